/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ST M95 EEPROM. The datasheet gives only maxima; typical times are assumed to be half of them.
 * Parts without -D in their name have no ID at all: they need -c M95M02 --force.
 *
 * ST's firmware hub. Its chip erase is left out: it needs a programmer's multiplexed bus.
 */
#include "lists.h"

/* clang-format off */
static const struct flash_chip chips[] = {
	{
		.vendor = "ST", .name = "M95M02", .id = 0x200012, .size_bytes = KIB(256),
		.buses = BUS_SPI, .identify = &eeprom_id, .driver = &spi25_driver,
		.page_bytes = 256, .program = {MS(5), MS(10)}, .overwrites = true,
		.spi25 = {.status_write = {MS(5), MS(10)}, .protect_mask = 0x0c},
	},
	{
		.vendor = "ST", .name = "M50FW040", .buses = BUS_FWH,
		.identify = &fwh_id, .id = 0x202c, .driver = &fwh_driver,
		.size_bytes = KIB(512), .page_bytes = 256, .program_unit_bytes = 1,
		.program = {10, 200},
		.erase = {{0x20, KIB(64), {MS(1000), MS(10000)}}},
	},
};
/* clang-format on */

const struct chip_list st_chips = CHIP_LIST(chips);
