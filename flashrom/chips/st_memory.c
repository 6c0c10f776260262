/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ST's firmware hub. Its chip erase is left out: it needs a programmer's multiplexed bus. */
#include "lists.h"

/* clang-format off */
static const struct flash_chip chips[] = {
	{
		.vendor = "ST", .name = "M50FW040", .buses = BUS_FWH,
		.identify = &fwh_id, .id = 0x202c, .driver = &fwh_driver,
		.size_bytes = KIB(512), .page_bytes = 256, .program_unit_bytes = 1,
		.program = {10, 200},
		.erase = {{0x20, KIB(64), {MS(1000), MS(10000)}}},
	},
};
/* clang-format on */

const struct chip_list st_memory_chips = CHIP_LIST(chips);
