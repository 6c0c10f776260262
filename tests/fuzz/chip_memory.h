/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads part and corner from an input, and provides the part's memory. The largest parts have
 * 64 MiB: pages that are never touched must cost nothing, as with serprog-emu.
 */
#ifndef TESTS_FUZZ_CHIP_MEMORY_H
#define TESTS_FUZZ_CHIP_MEMORY_H

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "model/chip.h"

struct fuzz_chip_memory {
	uint8_t *map;
	size_t map_bytes;
	void *memory; /* for chip_init(); ends up to 15 bytes before a page without access */
};

static inline const struct part *fuzz_part(struct fuzz_input *input)
{
	return &part_table[fuzz_u8(input) % part_table_count];
}

static inline struct corner fuzz_corner(struct fuzz_input *input)
{
	uint8_t kind = fuzz_u8(input);

	return (struct corner){
		.kind = (enum corner_kind)(kind % (CORNER_SLOW + 1)),
		.seed = kind,
		.factor = 1u + kind * (CORNER_FACTOR_MAX - 1) / UINT8_MAX,
	};
}

static inline void fuzz_chip_memory_init(struct fuzz_chip_memory *memory, const struct part *part)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t chip_bytes = (chip_memory_bytes(part) + 15) / 16 * 16;
	size_t room = (chip_bytes + page_bytes - 1) / page_bytes * page_bytes;

	memory->map_bytes = room + page_bytes;
	memory->map = mmap(NULL, memory->map_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	FUZZ_CHECK(memory->map != MAP_FAILED);
	FUZZ_CHECK(mprotect(memory->map + room, page_bytes, PROT_NONE) == 0);
	memory->memory = memory->map + room - chip_bytes;
}

static inline void fuzz_chip_memory_deinit(struct fuzz_chip_memory *memory)
{
	munmap(memory->map, memory->map_bytes);
}

#endif
