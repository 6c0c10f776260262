/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that appears under its name only when it is complete: it is written beside that name,
 * synced and renamed. A device or a pipe is written directly, because a rename would replace it.
 */
#ifndef EMULATORS_RECORD_OUTFILE_H
#define EMULATORS_RECORD_OUTFILE_H

#include <limits.h>
#include <stdio.h>

struct outfile {
	FILE *stream; /* NULL: not open */
	const char *path;
	char temporary[PATH_MAX]; /* empty: the file is written directly */
};

/* Opens the file. Call it early, so that a bad path fails before the work. Returns 0 or -errno. */
int outfile_open(struct outfile *file, const char *path);

/* Makes the file visible under its name, and closes it in any case. Returns 0 or -errno. */
int outfile_commit(struct outfile *file);

/* Closes and removes the file if it was not committed. */
void outfile_deinit(struct outfile *file);

#endif
