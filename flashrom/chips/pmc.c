/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PMC Pm49FL004: no datasheet was at hand; its times are those of similar parts. It answers on LPC
 * and as a firmware hub.
 */
#include "lists.h"

/* clang-format off */
static const struct flash_chip chips[] = {
	{
		.vendor = "PMC", .name = "Pm49FL004", .buses = BUS_LPC | BUS_FWH,
		JEDEC_IDENTIFIED(0x9d6e), .size_bytes = KIB(512),
		.driver = &jedec_fwh_driver, .page_bytes = 256, .program_unit_bytes = 1,
		.program = {25, 100}, .jedec = {.id_wait_us = 10},
		.erase = {
			{0x30, KIB(4), {MS(50), MS(400)}},
			{0x50, KIB(64), {MS(250), MS(2000)}},
		},
	},
};
/* clang-format on */

const struct chip_list pmc_chips = CHIP_LIST(chips);
