/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool must_write_directly(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

int outfile_open(struct outfile *file, const char *path)
{
	const char *name = path;

	memset(file, 0, sizeof(*file));
	file->path = path;
	if (!must_write_directly(path)) {
		int len = snprintf(file->temporary, sizeof(file->temporary), "%s.%ld.tmp", path,
			(long)getpid());

		if (len < 0 || (size_t)len >= sizeof(file->temporary))
			return -ENAMETOOLONG;
		name = file->temporary;
	}
	file->stream = fopen(name, "we");
	return file->stream ? 0 : -errno;
}

static int flush_and_sync(struct outfile *file)
{
	if (fflush(file->stream) != 0 || ferror(file->stream))
		return errno ? -errno : -EIO;
	/* Devices and pipes have nothing to sync. */
	if (file->temporary[0] && fsync(fileno(file->stream)) < 0)
		return -errno;
	return 0;
}

int outfile_commit(struct outfile *file)
{
	int ret = flush_and_sync(file);

	if (ret == 0 && file->temporary[0] && rename(file->temporary, file->path) < 0)
		ret = -errno;
	if (ret == 0)
		file->temporary[0] = '\0';
	outfile_deinit(file);
	return ret;
}

void outfile_deinit(struct outfile *file)
{
	if (!file->stream)
		return;
	fclose(file->stream);
	file->stream = NULL;
	if (file->temporary[0])
		unlink(file->temporary);
}
