/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Macronix MX29F. The C revision erases in 0.7 s (sector) and 4 s (chip); maxima are those of the
 * first revision.
 */
#include "lists.h"

/* clang-format off */
static const struct flash_chip chips[] = {
	{
		.vendor = "Macronix", .name = "MX29F040", .buses = BUS_PARALLEL,
		JEDEC_IDENTIFIED(0xc2a4), .size_bytes = KIB(512),
		JEDEC_BYTE_DRIVEN, .program = {7, 300},
		.erase = {
			{0x30, KIB(64), {MS(700), MS(15000)}},
			{0x10, KIB(512), {MS(4000), MS(64000)}},
		},
	},
};
/* clang-format on */

const struct chip_list macronix_memory_chips = CHIP_LIST(chips);
