/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puya P25Q-H: times are remembered from its datasheet, or the slower ones of drivers for it. All
 * erases take the same time. The page erase (81h) brings no advantage here.
 */
#include "lists.h"

/* clang-format off */
#define P25Q(part, jedec, bytes)								\
{												\
	SPI25_PART("Puya", part, jedec, bytes), .program = {2000, 3000},			\
	.spi25 = {.status_write = {MS(8), MS(20)},						\
		.wake_us_max = 30, .protect_mask = 0x7c, .protect_mask_2 = 0x40,		\
		.status_two_bytes = true},							\
	.erase = {										\
		{0x20, KIB(4), {MS(8), MS(30)}},						\
		{0x52, KIB(32), {MS(8), MS(30)}},						\
		{0xd8, KIB(64), {MS(8), MS(30)}},						\
	}											\
}

static const struct flash_chip chips[] = {
	P25Q("P25Q16H", 0x856015, MIB(2)),
};
/* clang-format on */

const struct chip_list puya_chips = CHIP_LIST(chips);
