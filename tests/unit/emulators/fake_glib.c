/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_glib.h"

static const char *last_name;

int g_file_get_contents(const char *name, char **contents, size_t *length, void *error)
{
	static char text[] = FAKE_GLIB_TEXT;

	(void)error;
	last_name = name;
	*contents = text;
	if (length)
		*length = sizeof(text) - 1;
	return FAKE_GLIB_RETURNS;
}

const char *fake_glib_take_name(void)
{
	const char *name = last_name;

	last_name = NULL;
	return name;
}
