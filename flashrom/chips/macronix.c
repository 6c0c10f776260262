/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Macronix MX25L. Old mask revisions take up to 100 us to wake. On the D and small E parts 52h
 * erases 64 KiB like D8h, so it is not listed there.
 */
#include "lists.h"

/* clang-format off */
#define MX25L(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "Macronix", .name = (part), .id = (jedec), .size_bytes = (bytes),		\
	SPI25_DRIVEN,										\
	.page_bytes = 256, .program = {1400, 5000},						\
	.spi25 = {.status_write = {MS(5), MS(40)},						\
		.wake_us_max = 100, .protect_mask = 0x3c},					\
	.erase = {										\
		{0x20, KIB(4), {MS(60), MS(300)}},						\
		{0xd8, KIB(64), {MS(700), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define MX25L_32K(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "Macronix", .name = (part), .id = (jedec), .size_bytes = (bytes),		\
	SPI25_DRIVEN,										\
	.page_bytes = 256, .program = {1400, 5000},						\
	.spi25 = {.status_write = {MS(5), MS(40)},						\
		.wake_us_max = 100, .protect_mask = 0x3c},					\
	.erase = {										\
		{0x20, KIB(4), {MS(60), MS(300)}},						\
		{0x52, KIB(32), {MS(500), MS(2000)}},						\
		{0xd8, KIB(64), {MS(700), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	MX25L("MX25L8005/MX25L8006E/MX25L8008E/MX25V8005", 0xc22014, MIB(1), 7000, 15000),
	MX25L("MX25L1605D/MX25L1608D/MX25L1673E", 0xc22015, MIB(2), 14000, 30000),
	MX25L("MX25L3206E/MX25L3208E", 0xc22016, MIB(4), 25000, 50000),
	MX25L_32K("MX25L6436E/MX25L6445E/MX25L6465E/MX25L6473E/MX25L6473F",
		0xc22017, MIB(8), 50000, 80000),
	MX25L_32K("MX25L12835F/MX25L12845E/MX25L12865E", 0xc22018, MIB(16), 80000, 200000),
};
/* clang-format on */

const struct chip_list macronix_chips = CHIP_LIST(chips);
