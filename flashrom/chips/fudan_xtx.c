/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fudan FM25Q and XTX XT25F: no datasheet with times was at hand, so the times are those of similar
 * parts. Traits of suspensions are left out.
 */
#include "lists.h"

/* clang-format off */
#define SIMILAR(maker, part, jedec, bytes, erase_ms_typ, erase_ms_max)				\
{												\
	SPI25_PART(maker, part, jedec, bytes), .program = {700, 3000},				\
	.spi25 = {.status_write = {MS(10), MS(50)}, .wake_us_max = 100,				\
		.protect_mask = 0x7c, .protect_mask_2 = 0x40, .status_two_bytes = true},	\
	.erase = {										\
		{0x20, KIB(4), {MS(50), MS(400)}},						\
		{0x52, KIB(32), {MS(150), MS(1600)}},						\
		{0xd8, KIB(64), {MS(250), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip fudan[] = {
	SIMILAR("Fudan", "FM25Q08", 0xa14014, MIB(1), 4000, 20000),
	SIMILAR("Fudan", "FM25Q128", 0xa14018, MIB(16), 60000, 200000),
};

static const struct flash_chip xtx[] = {
	SIMILAR("XTX", "XT25F64B", 0x0b4017, MIB(8), 30000, 100000),
	SIMILAR("XTX", "XT25F128B", 0x0b4018, MIB(16), 60000, 200000),
};
/* clang-format on */

const struct chip_list fudan_chips = CHIP_LIST(fudan);
const struct chip_list xtx_chips = CHIP_LIST(xtx);
