/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * XMC XM25QH: preliminary datasheet of the XM25QH128A for typical times; maxima are those of
 * similar parts, and so are all times of the C parts, which have a second status register.
 */
#include "lists.h"

/* clang-format off */
#define XM25QH(part, jedec, bytes, erase_ms_typ, erase_ms_max, ...)				\
{												\
	SPI25_PART("XMC", part, jedec, bytes), .program = {500, 3000},				\
	.spi25 = {.status_write = {MS(10), MS(50)}, __VA_ARGS__},				\
	.erase = {										\
		{0x20, KIB(4), {MS(40), MS(400)}},						\
		{0x52, KIB(32), {MS(200), MS(1600)}},						\
		{0xd8, KIB(64), {MS(300), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define A_TRAITS .wake_us_max = 30, .protect_mask = 0x3c
#define C_TRAITS										\
	.wake_us_max = 100,									\
	.protect_mask = 0x7c, .protect_mask_2 = 0x40, .status_two_bytes = true,			\
	.reset = SPI25_RESET_66_99, .reset_us_max = MS(15)

static const struct flash_chip chips[] = {
	XM25QH("XM25QH64C", 0x204017, MIB(8), 30000, 100000, C_TRAITS),
	XM25QH("XM25QH64A", 0x207017, MIB(8), 30000, 100000, A_TRAITS),
	XM25QH("XM25QH128C", 0x204018, MIB(16), 60000, 200000, C_TRAITS),
	XM25QH("XM25QH128A", 0x207018, MIB(16), 60000, 200000, A_TRAITS),
};
/* clang-format on */

const struct chip_list xmc_chips = CHIP_LIST(chips);
