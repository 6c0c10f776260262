/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Spansion, now Infineon. S25FL1-K: their datasheets.
 *
 * S25FL-S: datasheets 001-98283 and 001-98284. The fifth ID byte differs between parts with sectors
 * of 64 KiB and of 256 KiB. B9h accesses a bank register: there is no power-down. After an error
 * the part stays busy until the error is cleared. From 256 Mbit on, the commands with addresses of
 * four bytes are used. The 4 KiB parameter sectors are left out: D8h erases them with their 64 KiB.
 *
 * S25FL512S: the typical times of its datasheet's first page; maxima are those of the S25FL128S.
 *
 * S25FS-S: datasheet 002-00368. The sixth ID byte differs from S25FL-S. Their 4 KiB sectors are
 * left out, too: from open to close, the driver makes all sectors uniform.
 *
 * S25FL-L: datasheet 002-00124; the register write time is that of the slowest part of the family.
 */
#include "lists.h"

/* clang-format off */
#define S25FL1(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	SPI25_PART("Spansion", part, jedec, bytes), .program = {700, 3000},			\
	.spi25 = {.status_write = {MS(5), MS(30)}, .wake_us_max = 3, .status_two_bytes = true,	\
		.protect_mask = 0x7c, .protect_mask_2 = 0x40,					\
		.suspended = {0x35, 0x80}, .resume_opcode = 0x7a},				\
	.erase = {										\
		{0x20, KIB(4), {MS(50), MS(450)}},						\
		{0xd8, KIB(64), {MS(500), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define S25FL_L(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	SPI25_PART("Spansion", part, jedec, bytes), .program = {300, 1350},			\
	.spi25 = {.status_write = {MS(145), MS(1200)}, .wake_us_max = 5,			\
		.status_two_bytes = true, .protect_mask = 0x7c, .protect_mask_2 = 0x40,		\
		.failed = {0x07, 0x60}, .clear_failed_opcode = 0x30,				\
		.suspended = {0x07, 0x03}, .resume_opcode = 0x7a,				\
		.reset = SPI25_RESET_66_99, .reset_us_max = 100},				\
	.erase = {										\
		{0x20, KIB(4), {MS(50), MS(320)}},						\
		{0x52, KIB(32), {MS(190), MS(600)}},						\
		{0xd8, KIB(64), {MS(270), MS(1150)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define S25FL_S_TRAITS(kind_of_reset)								\
	.status_write = {MS(140), MS(500)}, .status_two_bytes = true, .protect_mask = 0x1c,	\
	.failed = {0x05, 0x60}, .clear_failed_opcode = 0x30, .busy_after_failure = true,	\
	.suspended = {0x07, 0x03}, .resume_opcode = 0x7a,					\
	.reset = (kind_of_reset), .reset_us_max = 35

#define S25FL_S_64K_FIELDS(part, jedec, bytes)							\
	.vendor = "Spansion", .name = (part), .id = (jedec), .size_bytes = (bytes),		\
	.buses = BUS_SPI, .identify = &spi25_rdid_extended, .driver = &spi25_driver,		\
	.page_bytes = 256, .program = {250, 750}

#define S25FL_S_64K(part, jedec, bytes, erase_ms_typ, erase_ms_max, way)			\
{												\
	S25FL_S_64K_FIELDS(part, jedec, bytes),							\
	.spi25 = {S25FL_S_TRAITS(SPI25_RESET_F0), .addresses = (way)},				\
	.erase = {										\
		{OP_SECTOR(way), KIB(64), {MS(130), MS(650)}},					\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define S25FL_S_256K(part, jedec, bytes, erase_ms_typ, erase_ms_max, way)			\
{												\
	.vendor = "Spansion", .name = (part), .id = (jedec), .size_bytes = (bytes),		\
	.buses = BUS_SPI, .identify = &spi25_rdid_extended, .driver = &spi25_driver,		\
	.page_bytes = 512, .program = {340, 750},						\
	.spi25 = {S25FL_S_TRAITS(SPI25_RESET_F0), .addresses = (way)},				\
	.erase = {										\
		{OP_SECTOR(way), KIB(256), {MS(520), MS(2600)}},				\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define S25FS_S_64K(part, jedec, bytes, erase_ms_typ, erase_ms_max)				\
{												\
	S25FL_S_64K_FIELDS(part, jedec, bytes),							\
	.spi25 = {S25FL_S_TRAITS(SPI25_RESET_66_99), .uniform_sectors = {0x800004, 0x08}},	\
	.erase = {										\
		{0xd8, KIB(64), {MS(145), MS(725)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	S25FL1("S25FL116K/S25FL216K", 0x014015, MIB(2), 11200, 64000),
	S25FL1("S25FL132K", 0x014016, MIB(4), 32000, 64000),
	S25FL1("S25FL164K", 0x014017, MIB(8), 64000, 128000),
	S25FL_L("S25FL128L", 0x016018, MIB(16), 70000, 180000),
	S25FL_S_64K("S25FL128S......0", 0x01180180, MIB(16), 33000, 165000, SPI25_ADDRESS_3),
	S25FL_S_256K("S25FL128S......1", 0x01180080, MIB(16), 33000, 165000, SPI25_ADDRESS_3),
	S25FL_S_64K("S25FL256S......0", 0x01190180, MIB(32), 66000, 330000,
		SPI25_ADDRESS_4_OPCODES),
	S25FL_S_256K("S25FL512S", 0x01200080, MIB(64), 132000, 700000, SPI25_ADDRESS_4_OPCODES),
	S25FS_S_64K("S25FS128S Small Sectors", 0x01180181, MIB(16), 36000, 180000),
};
/* clang-format on */

const struct chip_list spansion_chips = CHIP_LIST(chips);
