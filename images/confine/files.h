/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subject's own folder has a bounded size and is gone with the sandbox. Files of some names are
 * brought into it before, and kept after: those names stand for files of this machine, elsewhere.
 */
#ifndef CONFINE_FILES_H
#define CONFINE_FILES_H

struct files {
	const char *own;   /* the subject's folder */
	const char *kept;  /* where each name stands for a file of this machine */
	const char *names; /* joined by commas */
};

/* Copies what is not empty to the subject's folder. Negative errno. */
int files_bring(const struct files *files);

/* Copies back what is there, and is a file: no link is followed. Negative errno. */
int files_keep(const struct files *files);

#endif
