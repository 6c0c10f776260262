/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ST M95 EEPROM. The datasheet gives only maxima; typical times are assumed to be half of them.
 * Parts without -D in their name have no ID at all: they need -c M95M02 --force.
 */
#include "eeprom.h"
#include "lists.h"

/* clang-format off */
static const struct flash_chip chips[] = {
	{
		.vendor = "ST", .name = "M95M02", .id = 0x200012, .size_bytes = KIB(256),
		.buses = BUS_SPI, .identify = &eeprom_id, .driver = &spi25_driver,
		.page_bytes = 256, .program = {MS(5), MS(10)}, .overwrites = true,
		.spi25 = {.status_write = {MS(5), MS(10)}, .protect_mask = 0x0c},
	},
};
/* clang-format on */

const struct chip_list st_chips = CHIP_LIST(chips);
