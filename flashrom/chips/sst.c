/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SST, later Microchip's. SST25VF: all blocks are protected at power-up; a status write is enabled
 * by 50h (newer revisions take 06h too) and takes effect at once. The B parts program words, the C
 * part programs pages.
 */
#include "lists.h"

/* clang-format off */
#define SST25VF_FAMILY(part, jedec, bytes)							\
	.vendor = "SST", .name = (part), .id = (jedec), .size_bytes = (bytes),			\
	.buses = BUS_SPI, .identify = &spi25_rdid, .page_bytes = 256,				\
	.spi25 = {.status_write = {1, 1}, .protect_mask = 0x3c, .status_write_enable2 = true},	\
	.erase = {										\
		{0x20, KIB(4), {MS(18), MS(25)}},						\
		{0x52, KIB(32), {MS(18), MS(25)}},						\
		{0xd8, KIB(64), {MS(18), MS(25)}},						\
		{0xc7, (bytes), {MS(35), MS(50)}},						\
	}

#define SST25VF_B(part, jedec, bytes)								\
{												\
	SST25VF_FAMILY(part, jedec, bytes),							\
	.driver = &aai_driver, .blank_only = true,						\
	.program = {7, 10}, .program_unit_bytes = 2,						\
}

#define SST25VF_C(part, jedec, bytes)								\
{												\
	SST25VF_FAMILY(part, jedec, bytes),							\
	.driver = &spi25_driver, .program = {1500, 2500},					\
}

/*
 * SST on memory buses. tIDA is 150 ns for 39SF and 49LF, 10 us for 29EE. The chip erase of 49LF
 * works only on a programmer's multiplexed bus, so it is left out.
 */
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
	SST25VF_B("SST25VF016B", 0xbf2541, MIB(2)),
	SST25VF_B("SST25VF032B", 0xbf254a, MIB(4)),
	SST25VF_B("SST25VF040B", 0xbf258d, KIB(512)),
	SST25VF_C("SST25VF064C", 0xbf254b, MIB(8)),
	SST25VF_B("SST25VF080B", 0xbf258e, MIB(1)),
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

const struct chip_list sst_chips = CHIP_LIST(chips);
