/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for a chip, of which only the pages that are touched cost anything: calloc() may have to
 * clear all 32 MiB where the allocator is told to fill what is freed. Only the tests include this.
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
