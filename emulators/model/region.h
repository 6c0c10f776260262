/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of unequal sizes, from address 0 on.
 */
#ifndef EMULATORS_MODEL_REGION_H
#define EMULATORS_MODEL_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PART_REGIONS_MAX 6

struct part_region {
	uint32_t block_count;
	uint32_t block_bytes;
};

struct part_block {
	uint32_t address;
	uint32_t size_bytes;
	uint32_t index; /* of it among all blocks of its kind */
};

/* The block that holds @address; false: the regions end below it. */
bool region_find_block(const struct part_region *regions, size_t region_count, uint32_t address,
	struct part_block *block);

#endif
