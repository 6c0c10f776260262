/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is complete at any moment, even if QEMU is killed. Its last window is mapped; its
 * content ends before the first zero byte.
 */
#ifndef EMULATORS_DELAYS_MAPPED_FILE_H
#define EMULATORS_DELAYS_MAPPED_FILE_H

#include <stddef.h>

#define MAPPED_FILE_BYTES_MAX ((size_t)256 << 20)

struct mapped_file {
	int file;
	char *window; /* MAPPED_FILE_WINDOW_BYTES, mapped; NULL before the first line */
	size_t begin; /* the window's offset in the file */
	size_t used;  /* the used bytes of the window */
};

/* Opens the file and empties it; it stays open. Returns 0 or a negative errno. */
int mapped_file_init(struct mapped_file *mapped_file, const char *path);

/* Empties the file. Returns 0 or a negative errno. */
int mapped_file_clear(struct mapped_file *mapped_file);

/*
 * Appends @line. Returns 0 or a negative errno. -EFBIG: less than @spare bytes would be left below
 * the limit, and nothing was written. After other errors the file may have a part of @line.
 */
int mapped_file_write(struct mapped_file *mapped_file, const char *line, size_t len, size_t spare);

#endif
