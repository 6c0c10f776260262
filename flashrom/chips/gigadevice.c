/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GigaDevice GD25Q: datasheet of the GD25Q16C (Rev 2.9), with the erase maxima of worn parts; the
 * others are of the same family. Revisions that share an ID differ in how the second status
 * register is written: on B parts together with the first, on C parts from 64 Mbit on with a
 * command of its own. A reset during an erase takes 12 ms.
 *
 * On GD25LQ both registers are written together at all sizes. No datasheets of GD25LQ and GD25Q256D
 * were at hand, so these parts have the times of the family, and `suspended` is not set.
 */
#include "lists.h"

/* clang-format off */
#define GD25Q(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	SPI25_PART("GigaDevice", part, jedec, bytes), .program = {600, 2400},			\
	.spi25 = {.status_write = {MS(10), MS(30)},						\
		.wake_us_max = 20, .protect_mask = 0x7c, .protect_mask_2 = 0x40,		\
		.status_two_bytes = (bytes) < MIB(16), .status_2_apart = (bytes) >= MIB(8),	\
		.suspended = {0x35, 0x80}, .resume_opcode = 0x7a,				\
		.reset = SPI25_RESET_66_99, .reset_us_max = MS(12)},				\
	.erase = {										\
		{0x20, KIB(4), {MS(50), MS(500)}},						\
		{0x52, KIB(32), {MS(150), MS(1200)}},						\
		{0xd8, KIB(64), {MS(250), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define GD25_PLAIN(part, jedec, bytes, erase_ms_typ, erase_ms_max, way, ...)			\
{												\
	SPI25_PART("GigaDevice", part, jedec, bytes), .program = {700, 3000},			\
	.spi25 = {.status_write = {MS(10), MS(50)},						\
		.wake_us_max = 100, .protect_mask = 0x7c, .protect_mask_2 = 0x40,		\
		.reset = SPI25_RESET_66_99, .reset_us_max = MS(15),				\
		.addresses = (way), __VA_ARGS__},						\
	.erase = {										\
		{OP_4K(way), KIB(4), {MS(50), MS(500)}},					\
		{OP_32K(way), KIB(32), {MS(150), MS(1200)}},					\
		{OP_SECTOR(way), KIB(64), {MS(250), MS(2000)}},					\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	GD25Q("GD25Q80(B)", 0xc84014, MIB(1), 4000, 12000),
	GD25Q("GD25Q16(B)", 0xc84015, MIB(2), 7000, 25000),
	GD25Q("GD25Q32(B)", 0xc84016, MIB(4), 15000, 50000),
	GD25Q("GD25Q64(B)", 0xc84017, MIB(8), 30000, 80000),
	GD25Q("GD25Q127C/GD25Q128C", 0xc84018, MIB(16), 60000, 160000),
	GD25_PLAIN("GD25Q256D/GD25Q256E", 0xc84019, MIB(32), 120000, 400000,
		SPI25_ADDRESS_4_OPCODES, .status_2_apart = true),
	GD25_PLAIN("GD25LQ128C/GD25LQ128D/GD25LQ128E", 0xc86018, MIB(16), 60000, 200000,
		SPI25_ADDRESS_3, .status_two_bytes = true),
};
/* clang-format on */

const struct chip_list gigadevice_chips = CHIP_LIST(chips);
