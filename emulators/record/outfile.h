/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is either all there under its name or not at all: written beside it, synced, renamed.
 * A name that is a device or a pipe is written straight, since nothing may take its place.
 */
#ifndef EMULATORS_RECORD_OUTFILE_H
#define EMULATORS_RECORD_OUTFILE_H

#include <limits.h>
#include <stdio.h>

struct outfile {
	FILE *stream; /* NULL: not open */
	const char *path;
	char temporary[PATH_MAX]; /* empty: written straight */
};

/* Opens it early, so that a bad path is known before the work is done. Negative errno. */
int outfile_open(struct outfile *file, const char *path);

/* Makes what was written visible. Negative errno; closed either way. */
int outfile_commit(struct outfile *file);

/* Takes back what was written, if it was not committed. */
void outfile_deinit(struct outfile *file);

#endif
