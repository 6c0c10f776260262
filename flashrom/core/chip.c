/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <strings.h>

#include "chip.h"
#include "text.h"

size_t chip_erase_count(const struct flash_chip *chip)
{
	size_t count = 0;

	while (count < CHIP_ERASES_MAX && chip->erase[count].block_bytes != 0)
		count++;
	return count;
}

static struct range block_of_size(uint32_t first, uint32_t address, uint32_t block_bytes)
{
	const uint32_t start = first + (address - first) / block_bytes * block_bytes;

	return (struct range){start, start + block_bytes};
}

struct range chip_erase_block(const struct chip_erase *erase, uint32_t address)
{
	uint32_t first = 0;

	for (const struct erase_run *run = erase->runs; run != NULL && run->count > 0; run++) {
		const uint32_t run_bytes = run->block_bytes * run->count;

		if (address - first < run_bytes)
			return block_of_size(first, address, run->block_bytes);
		first += run_bytes;
	}
	assert(erase->runs == NULL);
	return block_of_size(0, address, erase->block_bytes);
}

struct range chip_smallest_block(const struct flash_chip *chip, uint32_t address)
{
	if (chip->overwrites || chip_erase_count(chip) == 0)
		return block_of_size(0, address, chip->page_bytes);
	return chip_erase_block(&chip->erase[0], address);
}

uint32_t chip_unit_bytes(const struct flash_chip *chip)
{
	return chip->program_unit_bytes == 0 ? chip->page_bytes : chip->program_unit_bytes;
}

uint64_t chip_page_us_typ(const struct flash_chip *chip)
{
	return (uint64_t)chip->page_bytes / chip_unit_bytes(chip) * chip->program.typ_us;
}

const struct flash_chip *chip_at(const struct chip_list *const *lists, size_t nth)
{
	for (; *lists != NULL; lists++) {
		if (nth < (*lists)->count)
			return &(*lists)->chips[nth];
		nth -= (*lists)->count;
	}
	return NULL;
}

const struct flash_chip *chip_by_name(const struct chip_list *const *lists, const char *name)
{
	const struct flash_chip *chip;

	for (size_t nth = 0; (chip = chip_at(lists, nth)) != NULL; nth++) {
		if (strcasecmp(chip->name, name) == 0)
			return chip;
	}
	return NULL;
}

const char *chip_name_nearest(const struct chip_list *const *lists, const char *name)
{
	struct nearest nearest = {.wanted = name};
	const struct flash_chip *chip;

	for (size_t nth = 0; (chip = chip_at(lists, nth)) != NULL; nth++)
		nearest_offer(&nearest, chip->name);
	return nearest_found(&nearest);
}
