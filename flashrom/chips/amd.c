/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AMD Am29F. Erase times are for 5 V at the end of the part's life; the typical ones do not include
 * the programming to zeros that comes first. Autoselect needs no wait.
 */
#include "lists.h"

/* clang-format off */
static const struct flash_chip chips[] = {
	{
		.vendor = "AMD", .name = "Am29F040B", .buses = BUS_PARALLEL,
		JEDEC_IDENTIFIED(0x01a4), .size_bytes = KIB(512),
		JEDEC_BYTE_DRIVEN, .program = {7, 300},
		.erase = {
			{0x30, KIB(64), {MS(1000), MS(8000)}},
			{0x10, KIB(512), {MS(8000), MS(64000)}},
		},
	},
};
/* clang-format on */

const struct chip_list amd_chips = CHIP_LIST(chips);
