/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "uses.h"

#include <assert.h>

#define OPCODE_COUNT 256u

/* The counts of the opcodes come first, then those of the pages, then those of each erase. */
static size_t pages_begin(void)
{
	return OPCODE_COUNT;
}

static size_t block_count(const struct part *part, const struct part_erase *erase)
{
	return (part->size_bytes + erase->size_bytes - 1) / erase->size_bytes;
}

static size_t erase_begin(const struct part *part, size_t index)
{
	size_t begin = pages_begin() + part->size_bytes / part->page_bytes;

	for (size_t i = 0; i < index; i++)
		begin += block_count(part, &part->erases[i]);
	return begin;
}

size_t uses_bytes(const struct part *part)
{
	return erase_begin(part, part->erase_count);
}

void uses_init(struct uses *uses, const struct part *part, uint8_t *counts)
{
	uses->part = part;
	uses->counts = counts;
}

static struct corner_use count(struct uses *uses, size_t index, uint8_t opcode, uint32_t address)
{
	return (struct corner_use){
		.opcode = opcode,
		.address = address,
		.count = uses->counts[index]++,
	};
}

struct corner_use uses_next_erase(struct uses *uses, uint8_t opcode, uint32_t address)
{
	const struct part_erase *erase = part_erase_find(uses->part, opcode);
	uint32_t block;

	assert(erase && address < uses->part->size_bytes);
	block = address / erase->size_bytes;
	return count(uses, erase_begin(uses->part, (size_t)(erase - uses->part->erases)) + block,
		opcode, block * erase->size_bytes);
}

struct corner_use uses_next_program(struct uses *uses, uint8_t opcode, uint32_t address)
{
	uint32_t page_bytes = uses->part->page_bytes;
	uint32_t page = address / page_bytes;

	assert(address < uses->part->size_bytes);
	return count(uses, pages_begin() + page, opcode, page * page_bytes);
}

struct corner_use uses_next(struct uses *uses, uint8_t opcode)
{
	return count(uses, opcode, opcode, 0);
}
