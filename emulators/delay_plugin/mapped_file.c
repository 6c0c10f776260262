/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define MAPPED_FILE_WINDOW_BYTES ((size_t)256 << 10)
#define MAPPED_FILE_MODE 0644

static void unmap(struct mapped_file *mapped_file)
{
	if (mapped_file->window)
		munmap(mapped_file->window, MAPPED_FILE_WINDOW_BYTES);
	mapped_file->window = NULL;
	mapped_file->used = 0;
}

int mapped_file_init(struct mapped_file *mapped_file, const char *path)
{
	*mapped_file = (struct mapped_file){
		.file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, MAPPED_FILE_MODE)};
	return mapped_file->file < 0 ? -errno : mapped_file_clear(mapped_file);
}

int mapped_file_clear(struct mapped_file *mapped_file)
{
	unmap(mapped_file);
	mapped_file->begin = 0;
	return ftruncate(mapped_file->file, 0) < 0 ? -errno : 0;
}

static int map_at(struct mapped_file *mapped_file, size_t begin)
{
	void *window;
	int error;

	/* Otherwise a write to the mapping would kill QEMU by SIGBUS when the disk is full. */
	error = posix_fallocate(mapped_file->file, (off_t)begin, MAPPED_FILE_WINDOW_BYTES);
	if (error)
		return -error;
	window = mmap(NULL, MAPPED_FILE_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		mapped_file->file, (off_t)begin);
	if (window == MAP_FAILED)
		return -errno;
	unmap(mapped_file);
	mapped_file->window = window;
	mapped_file->begin = begin;
	return 0;
}

/* Maps a window that has room for the next byte. */
static int make_room(struct mapped_file *mapped_file)
{
	if (!mapped_file->window)
		return map_at(mapped_file, 0);
	if (mapped_file->used == MAPPED_FILE_WINDOW_BYTES)
		return map_at(mapped_file, mapped_file->begin + MAPPED_FILE_WINDOW_BYTES);
	return 0;
}

int mapped_file_write(struct mapped_file *mapped_file, const char *line, size_t len, size_t spare)
{
	if (mapped_file->begin + mapped_file->used + len + spare > MAPPED_FILE_BYTES_MAX)
		return -EFBIG;
	while (len > 0) {
		int ret = make_room(mapped_file);
		size_t part;

		if (ret < 0)
			return ret;
		assert(mapped_file->window);
		part = MAPPED_FILE_WINDOW_BYTES - mapped_file->used;
		if (part > len)
			part = len;
		memcpy(mapped_file->window + mapped_file->used, line, part);
		mapped_file->used += part;
		line += part;
		len -= part;
	}
	return 0;
}
