/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AMIC A49LF040A (Version 1.0): the maxima are those of similar parts. Its chip erase works only on
 * a programmer's multiplexed bus, so it is left out.
 */
#include "lists.h"

/* clang-format off */
static const struct flash_chip chips[] = {
	{
		.vendor = "AMIC", .name = "A49LF040A", .buses = BUS_LPC,
		JEDEC_IDENTIFIED(0x379d), .size_bytes = KIB(512),
		.driver = &jedec_fwh_driver, .page_bytes = 256, .program_unit_bytes = 1,
		.program = {10, 100}, .jedec = {.id_wait_us = 10},
		.erase = {
			{0x50, KIB(64), {MS(1000), MS(8000)}},
		},
	},
};
/* clang-format on */

const struct chip_list amic_chips = CHIP_LIST(chips);
