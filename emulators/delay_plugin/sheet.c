/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sheet.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define SHEET_WINDOW_BYTES ((size_t)256 << 10)
#define SHEET_MODE 0644

static void unmap(struct sheet *sheet)
{
	if (sheet->window)
		munmap(sheet->window, SHEET_WINDOW_BYTES);
	sheet->window = NULL;
	sheet->used = 0;
}

int sheet_init(struct sheet *sheet, const char *path)
{
	*sheet = (struct sheet){.file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, SHEET_MODE)};
	return sheet->file < 0 ? -errno : sheet_clear(sheet);
}

void sheet_destroy(struct sheet *sheet)
{
	unmap(sheet);
	if (sheet->file >= 0)
		close(sheet->file);
	sheet->file = -1;
}

int sheet_clear(struct sheet *sheet)
{
	unmap(sheet);
	sheet->begin = 0;
	return ftruncate(sheet->file, 0) < 0 ? -errno : 0;
}

static int map_at(struct sheet *sheet, size_t begin)
{
	void *window;
	int error;

	if (begin + SHEET_WINDOW_BYTES > SHEET_BYTES_MAX)
		return -EFBIG;
	/* Else QEMU would be killed where a full disk has no room for what it writes. */
	error = posix_fallocate(sheet->file, (off_t)begin, SHEET_WINDOW_BYTES);
	if (error)
		return -error;
	window = mmap(NULL, SHEET_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, sheet->file,
		(off_t)begin);
	if (window == MAP_FAILED)
		return -errno;
	unmap(sheet);
	sheet->window = window;
	sheet->begin = begin;
	return 0;
}

/* Maps where the next byte goes. */
static int make_room(struct sheet *sheet)
{
	if (!sheet->window)
		return map_at(sheet, 0);
	if (sheet->used == SHEET_WINDOW_BYTES)
		return map_at(sheet, sheet->begin + SHEET_WINDOW_BYTES);
	return 0;
}

int sheet_write(struct sheet *sheet, const char *line, size_t len)
{
	while (len > 0) {
		int ret = make_room(sheet);
		size_t part;

		if (ret < 0)
			return ret;
		assert(sheet->window);
		part = SHEET_WINDOW_BYTES - sheet->used;
		if (part > len)
			part = len;
		memcpy(sheet->window + sheet->used, line, part);
		sheet->used += part;
		line += part;
		len -= part;
	}
	return 0;
}
