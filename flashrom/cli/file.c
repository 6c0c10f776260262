/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

static int report(const struct log *log, const char *what, const char *path, int error)
{
	log_error(log, "Cannot %s %s: %s.\n", what, path, strerror(-error));
	return error;
}

/* One byte more than allowed tells a full file from one that is too long. */
static int read_all(FILE *file, size_t bytes_max, struct file_content *out)
{
	uint8_t *data = malloc(bytes_max + 1);
	size_t bytes;

	if (data == NULL)
		return -ENOMEM;
	bytes = fread(data, 1, bytes_max + 1, file);
	if (ferror(file) || bytes > bytes_max) {
		free(data);
		return ferror(file) ? -EIO : -EFBIG;
	}
	*out = (struct file_content){data, bytes};
	return 0;
}

int file_read(const char *path, size_t bytes_max, const struct log *log, struct file_content *out)
{
	FILE *file = fopen(path, "rb");
	int error = file == NULL ? -errno : read_all(file, bytes_max, out);

	if (file != NULL)
		fclose(file);
	return error == 0 ? 0 : report(log, "read", path, error);
}

int file_write(const char *path, const uint8_t *data, size_t bytes, const struct log *log)
{
	FILE *file = fopen(path, "wb");
	int error = 0;

	if (file == NULL)
		return report(log, "create", path, -errno);
	if (fwrite(data, 1, bytes, file) != bytes)
		error = -errno;
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	return error == 0 ? 0 : report(log, "write", path, error);
}
