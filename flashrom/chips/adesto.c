/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adesto AT25SF. Atmel sold the line before, hence the manufacturer byte 1Fh.
 */
#include "lists.h"

/* clang-format off */
#define AT25SF(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "Adesto", .name = (part), .id = (jedec), .size_bytes = (bytes),			\
	SPI25_DRIVEN,										\
	.page_bytes = 256, .program = {700, 2500},						\
	.spi25 = {.status_write = {MS(5), MS(20)},						\
		.wake_us_max = 20, .protect_mask = 0x1c, .status_two_bytes = true},		\
	.erase = {										\
		{0x20, KIB(4), {MS(70), MS(300)}},						\
		{0x52, KIB(32), {MS(300), MS(1300)}},						\
		{0xd8, KIB(64), {MS(600), MS(2200)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	AT25SF("AT25SF081", 0x1f8501, MIB(1), 10000, 30000),
	AT25SF("AT25SF161", 0x1f8601, MIB(2), 20000, 60000),
};
/* clang-format on */

const struct chip_list adesto_chips = CHIP_LIST(chips);
