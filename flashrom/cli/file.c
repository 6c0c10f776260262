/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

static int report(const struct log *log, const char *what, const char *path, int error)
{
	log_error(log, "Cannot %s %s: %s.\n", what, path, strerror(-error));
	return error;
}

/* Reads one byte more than allowed, to notice a file that is too long. */
static int read_all(FILE *file, size_t bytes_max, struct file_content *out)
{
	uint8_t *data = malloc(bytes_max + 1);
	size_t bytes;
	int error = 0;

	if (data == NULL)
		return -ENOMEM;
	errno = 0;
	bytes = fread(data, 1, bytes_max + 1, file);
	if (ferror(file))
		error = errno != 0 ? -errno : -EIO;
	else if (bytes > bytes_max)
		error = -EFBIG;
	if (error != 0) {
		free(data);
		return error;
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

/* Returns true for a regular file or a free name. Devices and pipes have no contents to keep. */
static bool is_replaceable(const char *path)
{
	struct stat status;

	return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

/* Returns the target of a link, as a path from the working directory. The caller frees it. */
static char *read_link(const char *path)
{
	char target[PATH_MAX] = "";
	char *folder = strdup(path);
	char *joined = NULL;

	if (folder != NULL && readlink(path, target, sizeof(target) - 1) >= 0 &&
		asprintf(&joined, "%s/%s", *target == '/' ? "" : dirname(folder), target) < 0)
		joined = NULL;
	free(folder);
	return joined;
}

/*
 * Returns the path of the file that is replaced or created: the target of all links, or `path`
 * itself. The caller frees it. Returns NULL with errno set on failure.
 */
static char *resolve(const char *path)
{
	char *real = realpath(path, NULL);
	char *target;

	if (real != NULL || errno != ENOENT)
		return real;
	target = read_link(path);
	real = target != NULL ? resolve(target) : strdup(path);
	free(target);
	return real;
}

static int check_folder(const char *path)
{
	char *copy = resolve(path);
	int error = 0;

	if (copy == NULL)
		return -errno;
	if (access(dirname(copy), W_OK | X_OK) != 0)
		error = -errno;
	free(copy);
	return error;
}

int file_check_writable(const char *path, const struct log *log)
{
	struct stat status;
	int error = 0;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		error = -EISDIR;
	else if (access(path, F_OK) == 0 && access(path, W_OK) != 0)
		error = -errno;
	else if (is_replaceable(path))
		error = check_folder(path);
	return error == 0 ? 0 : report(log, "write", path, error);
}

static int write_all(int fd, const uint8_t *data, size_t bytes)
{
	while (bytes > 0) {
		const ssize_t written = write(fd, data, bytes);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			data += written;
			bytes -= (size_t)written;
		}
	}
	return 0;
}

static int write_straight(const char *path, const uint8_t *data, size_t bytes)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	error = write_all(fd, data, bytes);
	if (close(fd) != 0 && error == 0)
		error = -errno;
	return error;
}

/* The new file gets the mode of the old one; without one the umask decides. */
static void copy_mode(int fd, const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0)
		(void)fchmod(fd, status.st_mode & 07777);
}

static int write_beside(const char *temporary, const char *path, const uint8_t *data, size_t bytes)
{
	const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int error;

	if (fd < 0)
		return -errno;
	copy_mode(fd, path);
	error = write_all(fd, data, bytes);
	if (error == 0 && fsync(fd) != 0)
		error = -errno;
	if (close(fd) != 0 && error == 0)
		error = -errno;
	if (error == 0 && rename(temporary, path) != 0)
		error = -errno;
	if (error != 0)
		(void)unlink(temporary);
	return error;
}

static int replace(const char *path, const uint8_t *data, size_t bytes)
{
	char *real = resolve(path);
	char *temporary = NULL;
	int error = real == NULL ? -errno : -ENOMEM;

	if (real != NULL && asprintf(&temporary, "%s.%ld.part", real, (long)getpid()) >= 0)
		error = write_beside(temporary, real, data, bytes);
	free(temporary);
	free(real);
	return error;
}

int file_write(const char *path, const uint8_t *data, size_t bytes, const struct log *log)
{
	const int error = is_replaceable(path) ? replace(path, data, bytes)
					       : write_straight(path, data, bytes);

	return error == 0 ? 0 : report(log, "write", path, error);
}
