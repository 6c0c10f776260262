/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Micron, formerly Numonyx and ST. The M25P has sectors of 64 KiB only. On the N25Q the BP3 bit
 * sits apart from the other protection bits. tRES is 30 us.
 */
#include "lists.h"

/* clang-format off */
#define M25P(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "Micron/Numonyx/ST", .name = (part), .id = (jedec), .size_bytes = (bytes),	\
	SPI25_DRIVEN,										\
	.page_bytes = 256, .program = {1400, 5000},						\
	.spi25 = {.status_write = {MS(5), MS(15)},						\
		.wake_us_max = 30, .protect_mask = 0x1c},					\
	.erase = {										\
		{0xd8, KIB(64), {MS(1000), MS(3000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define N25Q(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "Micron/Numonyx/ST", .name = (part), .id = (jedec), .size_bytes = (bytes),	\
	SPI25_DRIVEN,										\
	.page_bytes = 256, .program = {500, 5000},						\
	.spi25 = {.status_write = {MS(2), MS(8)},						\
		.wake_us_max = 30, .protect_mask = 0x5c},					\
	.erase = {										\
		{0x20, KIB(4), {MS(300), MS(3000)}},						\
		{0xd8, KIB(64), {MS(700), MS(3000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	M25P("M25P80", 0x202014, MIB(1), 10000, 20000),
	M25P("M25P16", 0x202015, MIB(2), 17000, 40000),
	M25P("M25P32", 0x202016, MIB(4), 34000, 80000),
	M25P("M25P64", 0x202017, MIB(8), 68000, 160000),
	N25Q("N25Q064..3E", 0x20ba17, MIB(8), 60000, 120000),
	N25Q("N25Q128..3E", 0x20ba18, MIB(16), 170000, 250000),
};
/* clang-format on */

const struct chip_list micron_chips = CHIP_LIST(chips);
