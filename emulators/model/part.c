/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "part.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "spi.h"

/* Longer names are compared by their beginning only. No part has a name near this length. */
#define NAME_LEN_MAX 32

static size_t name_len(const char *name)
{
	size_t len = strlen(name);

	return len < NAME_LEN_MAX ? len : NAME_LEN_MAX;
}

static size_t least(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Returns the number of single-letter edits between two names, ignoring case. */
static size_t name_distance(const char *a, const char *b)
{
	size_t row[NAME_LEN_MAX + 1];
	size_t a_len = name_len(a);
	size_t b_len = name_len(b);

	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t replace = diagonal + (tolower((unsigned char)a[i - 1]) !=
							    tolower((unsigned char)b[j - 1]));

			diagonal = row[j];
			row[j] = least(row[j] + 1, row[j - 1] + 1, replace);
		}
	}
	return row[b_len];
}

const struct part *part_find(const char *name)
{
	for (size_t i = 0; i < part_table_count; i++) {
		if (strcasecmp(part_table[i].name, name) == 0)
			return &part_table[i];
	}
	return NULL;
}

const struct part *part_nearest(const char *name)
{
	const struct part *nearest = &part_table[0];

	for (size_t i = 1; i < part_table_count; i++) {
		if (name_distance(part_table[i].name, name) < name_distance(nearest->name, name))
			nearest = &part_table[i];
	}
	return nearest;
}

const struct part_erase *part_erase_find(const struct part *part, uint8_t opcode)
{
	for (size_t i = 0; i < part->erase_count; i++) {
		if (part->erases[i].opcode == opcode)
			return &part->erases[i];
	}
	return NULL;
}

bool part_has_erase(const struct part *part, uint8_t opcode)
{
	return part_erase_find(part, opcode) != NULL;
}

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

/* Returns how many bytes, from address 0 on, the regions of this erase cover. */
static uint32_t regions_bytes(const struct part_erase *erase)
{
	uint32_t bytes = 0;

	for (size_t i = 0; i < erase->region_count; i++)
		bytes += erase->regions[i].block_count * erase->regions[i].block_bytes;
	return bytes;
}

bool part_erase_block(const struct part_erase *erase, uint32_t address, struct part_block *block)
{
	if (erase->region_count > 0)
		return region_find_block(erase->regions, erase->region_count, address, block);
	block->index = address / erase->size_bytes;
	block->address = block->index * erase->size_bytes;
	block->size_bytes = erase->size_bytes;
	return true;
}

/* Returns how many bytes from address 0 on are small sectors that other erases leave alone. */
static uint32_t small_sectors_bytes(const struct part *part)
{
	for (size_t i = 0; part->spi->uniform_flag.mask && i < part->erase_count; i++) {
		if (part->erases[i].region_count > 0)
			return regions_bytes(&part->erases[i]);
	}
	return 0;
}

void part_leave_small_sectors(const struct part *part, struct part_block *block)
{
	uint32_t bytes = small_sectors_bytes(part);

	if (block->address == 0 && block->size_bytes > bytes &&
		block->size_bytes < part->size_bytes) {
		block->address = bytes;
		block->size_bytes -= bytes;
	}
}
