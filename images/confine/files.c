// SPDX-License-Identifier: GPL-2.0-or-later
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define COPY_BYTES 65536
/* The subject may have put a link there, or a pipe to which nobody writes. */
#define WARY (O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

static int write_all(int fd, const char *bytes, ssize_t count)
{
	while (count > 0) {
		ssize_t written = write(fd, bytes, (size_t)count);

		if (written < 0)
			return -errno;
		bytes += written;
		count -= written;
	}
	return 0;
}

static int copy(int from, int to)
{
	static char bytes[COPY_BYTES];
	ssize_t count;
	int ret = 0;

	while (ret == 0 && (count = read(from, bytes, sizeof(bytes))) != 0)
		ret = count < 0 ? -errno : write_all(to, bytes, count);
	return ret;
}

/* Does nothing if @from is missing, empty or no regular file. */
static int copy_file(const char *from, const char *to)
{
	struct stat status;
	int in = open(from, O_RDONLY | WARY);
	int out = -1;
	int ret = 0;

	if (in < 0)
		return 0;
	if (fstat(in, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
		out = open(to, O_WRONLY | O_CREAT | O_TRUNC | WARY, 0644);
		ret = out < 0 ? -errno : copy(in, out);
	}
	close(in);
	if (out >= 0)
		close(out);
	return ret;
}

int files_copy(const char *from, const char *to, const char *names)
{
	char source[PATH_BYTES], target[PATH_BYTES];
	int ret = 0;

	while (ret == 0 && *names) {
		int length = (int)strcspn(names, ",");

		snprintf(source, sizeof(source), "%s/%.*s", from, length, names);
		snprintf(target, sizeof(target), "%s/%.*s", to, length, names);
		ret = copy_file(source, target);
		names += length + (names[length] == ',');
	}
	return ret;
}
