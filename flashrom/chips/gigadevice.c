/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GigaDevice GD25Q. tRES1 is 20 us on the slower revisions; erase maxima are those of the hot
 * temperature grades.
 */
#include "lists.h"

/* clang-format off */
#define GD25Q(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "GigaDevice", .name = (part), .id = (jedec), .size_bytes = (bytes),		\
	SPI25_DRIVEN,										\
	.page_bytes = 256, .program = {600, 2400},						\
	.spi25 = {.status_write = {MS(10), MS(30)},						\
		.wake_us_max = 20, .protect_mask = 0x1c, .status_two_bytes = true},		\
	.erase = {										\
		{0x20, KIB(4), {MS(50), MS(500)}},						\
		{0x52, KIB(32), {MS(150), MS(1000)}},						\
		{0xd8, KIB(64), {MS(200), MS(1600)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	GD25Q("GD25Q80(B)", 0xc84014, MIB(1), 4000, 12000),
	GD25Q("GD25Q16(B)", 0xc84015, MIB(2), 7000, 25000),
	GD25Q("GD25Q32(B)", 0xc84016, MIB(4), 15000, 50000),
	GD25Q("GD25Q64(B)", 0xc84017, MIB(8), 30000, 80000),
	GD25Q("GD25Q127C/GD25Q128C", 0xc84018, MIB(16), 60000, 160000),
};
/* clang-format on */

const struct chip_list gigadevice_chips = CHIP_LIST(chips);
