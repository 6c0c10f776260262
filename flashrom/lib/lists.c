/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The supported parts and programmers, as lists that the caller owns. */
#include <stdlib.h>

#include "internal.h"

const char *flashrom_version_info(void)
{
	return FLASHROM_VERSION;
}

static size_t count_programmers(void)
{
	size_t count = 0;

	while (programmer_drivers[count] != NULL)
		count++;
	return count;
}

const char **flashrom_supported_programmers(void)
{
	const size_t count = count_programmers();
	const char **names = (const char **)calloc(count + 1, sizeof(*names));

	for (size_t i = 0; i < count && names != NULL; i++)
		names[i] = programmer_drivers[i]->name;
	return names;
}

static size_t count_chips(void)
{
	size_t count = 0;

	while (chip_at(chip_lists, count) != NULL)
		count++;
	return count;
}

static struct flashrom_flashchip_info chip_info(const struct flash_chip *chip)
{
	return (struct flashrom_flashchip_info){
		.vendor = chip->vendor,
		.name = chip->name,
		.total_size = chip->size_bytes / 1024,
		.tested = {FLASHROM_TESTED_NT, FLASHROM_TESTED_NT, FLASHROM_TESTED_NT,
			FLASHROM_TESTED_NT, FLASHROM_TESTED_NA},
	};
}

struct flashrom_flashchip_info *flashrom_supported_flash_chips(void)
{
	const size_t count = count_chips();
	struct flashrom_flashchip_info *chips = calloc(count + 1, sizeof(*chips));

	for (size_t i = 0; i < count && chips != NULL; i++)
		chips[i] = chip_info(chip_at(chip_lists, i));
	return chips;
}

struct flashrom_board_info *flashrom_supported_boards(void)
{
	return calloc(1, sizeof(struct flashrom_board_info));
}

struct flashrom_chipset_info *flashrom_supported_chipsets(void)
{
	return calloc(1, sizeof(struct flashrom_chipset_info));
}

int flashrom_data_free(void *p)
{
	free(p);
	return 0;
}
