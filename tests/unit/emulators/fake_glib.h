/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stub of GLib's function, which the tests link behind the preloaded library. No other program
 * includes it.
 */
#ifndef TESTS_UNIT_EMULATORS_FAKE_GLIB_H
#define TESTS_UNIT_EMULATORS_FAKE_GLIB_H

#include <stddef.h>

/*
 * The content that the stub returns for every file, and its result, which is no boolean of GLib's.
 */
#define FAKE_GLIB_TEXT "from the next one"
#define FAKE_GLIB_RETURNS 7

int g_file_get_contents(const char *name, char **contents, size_t *length, void *error);

/* Returns the name of the last call, NULL if there was none since this was last called. */
const char *fake_glib_asked_for(void);

#endif
