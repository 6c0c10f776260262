/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is whole at any moment, though QEMU is killed: its end is mapped, and what was
 * written lies before the first zero byte.
 */
#ifndef EMULATORS_DELAYS_SHEET_H
#define EMULATORS_DELAYS_SHEET_H

#include <stddef.h>

#define SHEET_BYTES_MAX ((size_t)256 << 20)

struct sheet {
	int file;
	char *window; /* SHEET_WINDOW_BYTES, mapped; NULL before the first line */
	size_t begin; /* the window's offset in the file */
	size_t used;  /* the used bytes of the window */
};

/* A negative errno: there can be no such file. */
int sheet_init(struct sheet *sheet, const char *path);
void sheet_destroy(struct sheet *sheet);

/* Nothing is written in it any more. */
int sheet_clear(struct sheet *sheet);

/* -EFBIG, or what the system says: it was not written. */
int sheet_write(struct sheet *sheet, const char *line, size_t len);

#endif
