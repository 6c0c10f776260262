/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TEMPORARY_FOLDER_H
#define TEMPORARY_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"

#define FOLDER_FILE_BYTES 128

/* A new, empty folder of a test. Needs _GNU_SOURCE. */
struct folder {
	char path[32];
};

static inline void folder_create(struct folder *folder)
{
	strcpy(folder->path, "/tmp/rig-test-XXXXXX");
	assert_non_null(mkdtemp(folder->path));
}

static inline int folder_remove_entry(
	const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

/* Removes the folder with its content. */
static inline void folder_destroy(const struct folder *folder)
{
	assert_int_equal(nftw(folder->path, folder_remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Puts the path of a file in the folder into `path`. */
static inline void folder_file(
	const struct folder *folder, const char *name, char path[FOLDER_FILE_BYTES])
{
	int bytes = snprintf(path, FOLDER_FILE_BYTES, "%s/%s", folder->path, name);

	assert_in_range(bytes, 1, FOLDER_FILE_BYTES - 1);
}

static inline FILE *folder_open(const struct folder *folder, const char *name, const char *mode)
{
	char path[FOLDER_FILE_BYTES];
	FILE *file;

	folder_file(folder, name, path);
	file = fopen(path, mode);
	if (!file)
		abort();
	return file;
}

static inline void folder_write(const struct folder *folder, const char *name, const char *text)
{
	FILE *out = folder_open(folder, name, "w");

	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

/* Reads a file as text, up to `bytes` including the final NUL. */
static inline void folder_read(
	const struct folder *folder, const char *name, char *text, size_t bytes)
{
	FILE *in = folder_open(folder, name, "r");

	text[fread(text, 1, bytes - 1, in)] = '\0';
	fclose(in);
}

#endif
