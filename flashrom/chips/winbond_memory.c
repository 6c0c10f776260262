/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Winbond on memory buses. W29 writes pages and has a six-byte ID entry, tIDA 10 us; steppings with
 * the usual entry are not listed. W39V040A erases sectors of 64 KiB and pages of 4 KiB; its
 * datasheet gives only maxima. The B and C parts erase sectors; their times are those of similar
 * parts.
 */
#include "lists.h"

/* clang-format off */
#define W29(part, part_id, bytes)								\
{												\
	.vendor = "Winbond", .name = (part), .buses = BUS_PARALLEL,				\
	JEDEC_IDENTIFIED(part_id), .size_bytes = (bytes),					\
	JEDEC_PAGE_DRIVEN(128), .program = {5000, 10000},					\
	.jedec = {.id_wait_us = 10, .id_six_bytes = true},		\
	.erase = {{0x10, (bytes), {MS(50), MS(100)}}},						\
}

#define W39V040(part, part_id)									\
{												\
	.vendor = "Winbond", .name = (part), .buses = BUS_LPC,					\
	JEDEC_IDENTIFIED(part_id), .size_bytes = KIB(512),					\
	JEDEC_BYTE_DRIVEN, .program = {35, 100}, .jedec = {.id_wait_us = 10},			\
	.erase = {										\
		{0x30, KIB(64), {MS(250), MS(2000)}},						\
		{0x10, KIB(512), {MS(1250), MS(8000)}},						\
	},											\
}

static const struct flash_chip chips[] = {
	W29("W29C010(M)/W29C011A/W29EE011/W29EE012-old", 0xdac1, KIB(128)),
	W29("W29C020(C)/W29C022", 0xda45, KIB(256)),
	{
		.vendor = "Winbond", .name = "W39V040A", .buses = BUS_LPC,
		JEDEC_IDENTIFIED(0xda3d), .size_bytes = KIB(512),
		JEDEC_BYTE_DRIVEN, .program = {35, 100}, .jedec = {.id_wait_us = 10},
		.erase = {
			{0x50, KIB(4), {MS(12), MS(25)}},
			{0x30, KIB(64), {MS(12), MS(25)}},
			{0x10, KIB(512), {MS(50), MS(100)}},
		},
	},
	W39V040("W39V040B", 0xda54),
	W39V040("W39V040C", 0xda50),
};
/* clang-format on */

const struct chip_list winbond_memory_chips = CHIP_LIST(chips);
