/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <strings.h>

#include "chip.h"
#include "text.h"

#define for_each_list(list, lists)                                                                 \
	for (const struct chip_list *const *list = (lists); *list != NULL; list++)
#define for_each_chip(chip, list)                                                                  \
	for (const struct flash_chip *chip = (list)->chips; chip < (list)->chips + (list)->count;  \
		chip++)

size_t chip_erase_count(const struct flash_chip *chip)
{
	size_t count = 0;

	while (count < CHIP_ERASES_MAX && chip->erase[count].block_bytes != 0)
		count++;
	return count;
}

const struct flash_chip *chip_by_name(const struct chip_list *const *lists, const char *name)
{
	for_each_list(list, lists)
	{
		for_each_chip(chip, *list)
		{
			if (strcasecmp(chip->name, name) == 0)
				return chip;
		}
	}
	return NULL;
}

const struct flash_chip *chip_by_id(
	const struct chip_list *const *lists, uint32_t jedec_id, size_t nth)
{
	for_each_list(list, lists)
	{
		for_each_chip(chip, *list)
		{
			if (chip->jedec_id == jedec_id && nth-- == 0)
				return chip;
		}
	}
	return NULL;
}

const char *chip_name_nearest(const struct chip_list *const *lists, const char *name)
{
	struct nearest nearest = {.wanted = name};

	for_each_list(list, lists)
	{
		for_each_chip(chip, *list) nearest_offer(&nearest, chip->name);
	}
	return nearest_found(&nearest);
}

uint32_t chip_wake_us_max(const struct chip_list *const *lists)
{
	uint32_t us_max = 0;

	for_each_list(list, lists)
	{
		for_each_chip(chip, *list)
		{
			if (chip->wake_us_max > us_max)
				us_max = chip->wake_us_max;
		}
	}
	return us_max;
}
