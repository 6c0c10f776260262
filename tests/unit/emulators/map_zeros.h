/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps memory for a chip. Pages that are not touched cost nothing; calloc() would clear up to 64
 * MiB if the allocator is set to fill freed memory. Only tests include this.
 */
#ifndef TESTS_UNIT_EMULATORS_MAP_ZEROS_H
#define TESTS_UNIT_EMULATORS_MAP_ZEROS_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

static inline void *map_zeros(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

#endif
