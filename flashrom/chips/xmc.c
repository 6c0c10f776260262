/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * XMC XM25QH: preliminary datasheet of the XM25QH128A for typical times; maxima are those of like
 * parts.
 */
#include "lists.h"

/* clang-format off */
#define XM25QH(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "XMC", .name = (part), .id = (jedec), .size_bytes = (bytes),			\
	SPI25_DRIVEN,										\
	.page_bytes = 256, .program = {500, 3000},						\
	.spi25 = {.status_write = {MS(10), MS(50)}, .wake_us_max = 30, .protect_mask = 0x3c},	\
	.erase = {										\
		{0x20, KIB(4), {MS(40), MS(400)}},						\
		{0x52, KIB(32), {MS(200), MS(1600)}},						\
		{0xd8, KIB(64), {MS(300), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	XM25QH("XM25QH128A", 0x207018, MIB(16), 60000, 200000),
};
/* clang-format on */

const struct chip_list xmc_chips = CHIP_LIST(chips);
