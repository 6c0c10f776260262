/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Eon EN25Q and EN25QH: datasheet of the EN25Q64 for typical times; maxima are the family's.
 */
#include "lists.h"

/* clang-format off */
#define EN25Q(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	SPI25_PART("Eon", part, jedec, bytes), .program = {1300, 5000},				\
	.spi25 = {.status_write = {MS(10), MS(50)}, .wake_us_max = 5, .protect_mask = 0x3c},	\
	.erase = {										\
		{0x20, KIB(4), {MS(90), MS(300)}},						\
		{0xd8, KIB(64), {MS(500), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	EN25Q("EN25Q64", 0x1c3017, MIB(8), 35000, 70000),
	EN25Q("EN25QH64", 0x1c7017, MIB(8), 35000, 70000),
	EN25Q("EN25QH128", 0x1c7018, MIB(16), 70000, 140000),
};
/* clang-format on */

const struct chip_list eon_chips = CHIP_LIST(chips);
