/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ISSI IS25LP. QE sits in the first status register, which is read, changed and written as a whole.
 */
#include "lists.h"

/* clang-format off */
#define IS25LP(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "ISSI", .name = (part), .id = (jedec), .size_bytes = (bytes),			\
	SPI25_DRIVEN,										\
	.page_bytes = 256, .program = {200, 1000},						\
	.spi25 = {.status_write = {MS(2), MS(15)},						\
		.wake_us_max = 5, .protect_mask = 0x3c},					\
	.erase = {										\
		{0x20, KIB(4), {MS(70), MS(300)}},						\
		{0x52, KIB(32), {MS(130), MS(500)}},						\
		{0xd8, KIB(64), {MS(200), MS(1000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	IS25LP("IS25LP064", 0x9d6017, MIB(8), 22000, 60000),
	IS25LP("IS25LP128", 0x9d6018, MIB(16), 45000, 120000),
};
/* clang-format on */

const struct chip_list issi_chips = CHIP_LIST(chips);
