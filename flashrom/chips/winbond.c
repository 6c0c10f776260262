/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Winbond W25Q. Figures are the slowest of the revisions that share an ID, since they cannot be
 * told apart. tRES1 is 3 us. A one-byte 01h write clears the second status register (QE) on older
 * ones.
 */
#include "lists.h"

/* clang-format off */
#define W25Q(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "Winbond", .name = (part), .id = (jedec), .size_bytes = (bytes),			\
	SPI25_DRIVEN,										\
	.page_bytes = 256, .program = {700, 3000},						\
	.spi25 = {.status_write = {MS(10), MS(15)},						\
		.wake_us_max = 3, .protect_mask = 0x1c, .status_two_bytes = true},		\
	.erase = {										\
		{0x20, KIB(4), {MS(45), MS(400)}},						\
		{0x52, KIB(32), {MS(120), MS(1600)}},						\
		{0xd8, KIB(64), {MS(150), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	W25Q("W25Q40.V", 0xef4013, KIB(512), 1000, 4000),
	W25Q("W25Q80.V", 0xef4014, MIB(1), 2000, 10000),
	W25Q("W25Q16.V", 0xef4015, MIB(2), 5000, 25000),
	W25Q("W25Q32BV/W25Q32CV/W25Q32DV", 0xef4016, MIB(4), 10000, 50000),
	W25Q("W25Q64BV/W25Q64CV/W25Q64FV", 0xef4017, MIB(8), 20000, 100000),
	W25Q("W25Q128.V", 0xef4018, MIB(16), 40000, 200000),
	W25Q("W25Q32.W", 0xef6016, MIB(4), 10000, 50000),
	W25Q("W25Q64.W", 0xef6017, MIB(8), 20000, 100000),
	W25Q("W25Q128.W", 0xef6018, MIB(16), 40000, 200000),
	W25Q("W25Q64JV-.M", 0xef7017, MIB(8), 20000, 100000),
	W25Q("W25Q128.V..M", 0xef7018, MIB(16), 40000, 200000),
};
/* clang-format on */

const struct chip_list winbond_chips = CHIP_LIST(chips);
