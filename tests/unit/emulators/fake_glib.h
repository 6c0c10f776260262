/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stub of GLib's g_file_get_contents(), which a test links after the preloaded library. Only that
 * test includes this.
 */
#ifndef TESTS_UNIT_EMULATORS_FAKE_GLIB_H
#define TESTS_UNIT_EMULATORS_FAKE_GLIB_H

#include <stddef.h>

/*
 * The content that the stub returns for every file, and its result, which the preloaded library
 * never returns by itself.
 */
#define FAKE_GLIB_TEXT "from the next one"
#define FAKE_GLIB_RETURNS 7

int g_file_get_contents(const char *name, char **contents, size_t *length, void *error);

/* Returns the file name of the last call and forgets it. Returns NULL if there was no call since.
 */
const char *fake_glib_take_name(void);

#endif
