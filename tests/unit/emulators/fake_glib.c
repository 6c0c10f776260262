/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_glib.h"

static const char *asked_for;

int g_file_get_contents(const char *name, char **contents, size_t *length, void *error)
{
	static char text[] = FAKE_GLIB_TEXT;

	(void)error;
	asked_for = name;
	*contents = text;
	if (length)
		*length = sizeof(text) - 1;
	return FAKE_GLIB_RETURNS;
}

const char *fake_glib_asked_for(void)
{
	const char *name = asked_for;

	asked_for = NULL;
	return name;
}
