/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is whole at any moment, though QEMU is killed: its end is mapped, and what was
 * written lies before the first zero byte.
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

/* A negative errno: there can be no such file. */
int mapped_file_init(struct mapped_file *mapped_file, const char *path);
void mapped_file_destroy(struct mapped_file *mapped_file);

/* Nothing is written in it any more. */
int mapped_file_clear(struct mapped_file *mapped_file);

/*
 * -EFBIG: less than @spare bytes would be left below the limit. Of that or what the system says,
 * nothing was written.
 */
int mapped_file_write(struct mapped_file *mapped_file, const char *line, size_t len, size_t spare);

#endif
