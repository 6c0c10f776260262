/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spansion S25FL1-K.
 */
#include "lists.h"

/* clang-format off */
#define S25FL1(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "Spansion", .name = (part), .id = (jedec), .size_bytes = (bytes),		\
	SPI25_DRIVEN,										\
	.page_bytes = 256, .program = {700, 3000},						\
	.spi25 = {.status_write = {MS(5), MS(30)},						\
		.wake_us_max = 3, .protect_mask = 0x1c, .status_two_bytes = true},		\
	.erase = {										\
		{0x20, KIB(4), {MS(50), MS(450)}},						\
		{0xd8, KIB(64), {MS(500), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	S25FL1("S25FL116K/S25FL216K", 0x014015, MIB(2), 11200, 64000),
	S25FL1("S25FL132K", 0x014016, MIB(4), 32000, 64000),
	S25FL1("S25FL164K", 0x014017, MIB(8), 64000, 128000),
};
/* clang-format on */

const struct chip_list spansion_chips = CHIP_LIST(chips);
