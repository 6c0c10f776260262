/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SST on memory buses. tIDA is 150 ns for 39SF and 49LF, 10 us for 29EE. The chip erase of 49LF
 * works only on a programmer's multiplexed bus, so it is left out.
 */
#include "lists.h"

/* clang-format off */
#define SST49LF(part, part_id, part_bus, part_driver)						\
{												\
	.vendor = "SST", .name = (part), .buses = (part_bus),					\
	JEDEC_IDENTIFIED(part_id), .size_bytes = KIB(512),					\
	.driver = &(part_driver), .page_bytes = 256, .program_unit_bytes = 1,			\
	.program = {14, 20}, .jedec = {.id_wait_us = 1},					\
	.erase = {										\
		{0x30, KIB(4), {MS(18), MS(25)}},						\
		{0x50, KIB(64), {MS(18), MS(25)}},						\
	}											\
}

static const struct flash_chip chips[] = {
	{
		.vendor = "SST", .name = "SST29EE010", .buses = BUS_PARALLEL,
		JEDEC_IDENTIFIED(0xbf07), .size_bytes = KIB(128),
		JEDEC_PAGE_DRIVEN(128), .program = {5000, 10000},
		.jedec = {.id_wait_us = 10},
		.erase = {{0x10, KIB(128), {MS(10), MS(20)}}},
	},
	{
		.vendor = "SST", .name = "SST39SF040", .buses = BUS_PARALLEL,
		JEDEC_IDENTIFIED(0xbfb7), .size_bytes = KIB(512),
		JEDEC_BYTE_DRIVEN, .program = {14, 20}, .jedec = {.id_wait_us = 1},
		.erase = {
			{0x30, KIB(4), {MS(18), MS(25)}},
			{0x10, KIB(512), {MS(70), MS(100)}},
		},
	},
	SST49LF("SST49LF004A/B", 0xbf60, BUS_FWH, jedec_fwh_driver),
	SST49LF("SST49LF040", 0xbf51, BUS_LPC, jedec_byte_driver),
};
/* clang-format on */

const struct chip_list sst_memory_chips = CHIP_LIST(chips);
