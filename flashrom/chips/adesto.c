/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adesto AT25SF and AT25DF. Atmel sold them before, so their manufacturer byte is 1Fh.
 *
 * AT25SF161: datasheet DS-25SF161-046H. Its page program takes 5 ms at most below 2.7 V.
 * AT25DF641: the slower times of two datasheets, of AT25DF641 (preliminary) and AT25DF641A (8793D).
 * EPE, bit 5 of the status register, shows a failure.
 */
#include "lists.h"

/* clang-format off */
#define AT25SF(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	SPI25_PART("Adesto", part, jedec, bytes), .program = {700, 5000},			\
	.spi25 = {.status_write = {MS(5), MS(20)},						\
		.wake_us_max = 20, .protect_mask = 0x7c, .protect_mask_2 = 0x40,		\
		.status_two_bytes = true,							\
		.suspended = {0x35, 0x80}, .resume_opcode = 0x7a},				\
	.erase = {										\
		{0x20, KIB(4), {MS(70), MS(300)}},						\
		{0x52, KIB(32), {MS(300), MS(1300)}},						\
		{0xd8, KIB(64), {MS(600), MS(3000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define AT25DF(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "Atmel", .name = (part), .id = (jedec), .size_bytes = (bytes),		\
	.buses = BUS_SPI, .identify = &spi25_rdid, .driver = &at25df_driver,			\
	.page_bytes = 256, .program = {2500, 5000},						\
	.spi25 = {.status_write = {1, MS(1)}, .wake_us_max = 30,				\
		.failed = {0x05, 0x20}},							\
	.erase = {										\
		{0x20, KIB(4), {MS(75), MS(200)}},						\
		{0x52, KIB(32), {MS(300), MS(600)}},						\
		{0xd8, KIB(64), {MS(600), MS(950)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	AT25SF("AT25SF081", 0x1f8501, MIB(1), 10000, 30000),
	AT25SF("AT25SF161", 0x1f8601, MIB(2), 20000, 60000),
	AT25DF("AT25DF641(A)", 0x1f4800, MIB(8), 80000, 180000),
};
/* clang-format on */

const struct chip_list adesto_chips = CHIP_LIST(chips);
