// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int window_open(struct window *window, uint64_t address, size_t size_bytes)
{
	int memory = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	void *bytes;
	int error;

	if (memory < 0)
		return -errno;
	bytes = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, (off_t)address);
	error = bytes == MAP_FAILED ? -errno : 0;
	close(memory);
	/* Every child would get a page table for all of it. */
	if (!error && madvise(bytes, size_bytes, MADV_DONTFORK) < 0)
		error = -errno;
	if (!error)
		*window = (struct window){bytes, size_bytes, address};
	return error;
}
