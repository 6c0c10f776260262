/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "region.h"

bool region_find_block(const struct part_region *regions, size_t region_count, uint32_t address,
	struct part_block *block)
{
	uint32_t begin = 0;
	uint32_t index = 0;

	for (size_t i = 0; i < region_count; i++) {
		uint32_t block_bytes = regions[i].block_bytes;
		uint32_t offset = address - begin;

		if (offset / block_bytes < regions[i].block_count) {
			block->address = address - offset % block_bytes;
			block->size_bytes = block_bytes;
			block->index = index + offset / block_bytes;
			return true;
		}
		begin += regions[i].block_count * block_bytes;
		index += regions[i].block_count;
	}
	return false;
}
