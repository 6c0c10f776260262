/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Microchip SST26: datasheet DS20005119J of the SST26VF064B. It has no power-down.
 */
#include "lists.h"

/* Both ends have smaller blocks, for boot code. */
static const struct erase_run sst26vf064b_blocks[] = {
	{KIB(8), 4},
	{KIB(32), 1},
	{KIB(64), 126},
	{KIB(32), 1},
	{KIB(8), 4},
	{0, 0},
};

/* clang-format off */
#define SST26VF(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "SST", .name = (part), .id = (jedec), .size_bytes = (bytes),			\
	.buses = BUS_SPI, .identify = &spi25_rdid, .driver = &sst26_driver,			\
	.page_bytes = 256, .program = {1000, 1500},						\
	.spi25 = {.status_write = {MS(1), MS(25)}, .suspended = {0x05, 0x0c}, .resume_opcode = 0x30,	\
		.reset = SPI25_RESET_66_99, .reset_us_max = MS(1)},				\
	.erase = {										\
		{0x20, KIB(4), {MS(18), MS(25)}},						\
		{0xd8, KIB(64), {MS(18), MS(25)}, sst26vf064b_blocks},				\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	SST26VF("SST26VF064B(A)", 0xbf2643, MIB(8), 35, 50),
};
/* clang-format on */

const struct chip_list microchip_chips = CHIP_LIST(chips);
