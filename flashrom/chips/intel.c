/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intel's firmware hub. Times are those of similar parts; the status register shows the end. */
#include "lists.h"

/* clang-format off */
static const struct flash_chip chips[] = {
	{
		.vendor = "Intel", .name = "AT82802AB", .buses = BUS_FWH,
		.identify = &fwh_id, .id = 0x89ad, .driver = &fwh_driver,
		.size_bytes = KIB(512), .page_bytes = 256, .program_unit_bytes = 1,
		.program = {15, 300},
		.erase = {{0x20, KIB(64), {MS(1000), MS(10000)}}},
	},
};
/* clang-format on */

const struct chip_list intel_chips = CHIP_LIST(chips);
