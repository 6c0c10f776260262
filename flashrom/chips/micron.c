/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Micron, formerly Numonyx and ST.
 *
 * M25P: datasheets of the M25P80 (Micron, Rev I) and of older ST parts; the slower times of both.
 * No command erases less than a sector. The first M25P05 and M25P10 have no RDID, and pages of 128
 * bytes.
 *
 * N25Q and MT25Q: the N25Q datasheets; SFDP of the MT25QL128, whose maxima are coarse. BP3 is not
 * next to the other BP bits. The flag status register (70h) shows failures, suspensions and the
 * mode for addresses of four bytes. A reset during an erase takes up to half a second. An N25Q and
 * an MT25Q of one size share an ID; only the latter has a power-down command.
 */
#include "lists.h"

/* clang-format off */
#define M25P_TRAITS {.status_write = {MS(5), MS(15)}, .wake_us_max = 30, .protect_mask = 0x1c}

#define M25P(part, jedec, bytes, sector_bytes, erase_ms_typ, erase_ms_max)			\
{												\
	SPI25_PART("Micron/Numonyx/ST", part, jedec, bytes), .program = {1400, 5000},		\
	.spi25 = M25P_TRAITS,									\
	.erase = {										\
		{0xd8, (sector_bytes), {MS(1000), MS(3000)}},					\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define M25P_RES(part, jedec, bytes, erase_ms_typ, erase_ms_max)				\
{												\
	.vendor = "Micron/Numonyx/ST", .name = (part), .id = (jedec), .size_bytes = (bytes),	\
	.buses = BUS_SPI, .identify = &spi25_res, .driver = &spi25_driver,			\
	.page_bytes = 128, .program = {1400, 5000},						\
	.spi25 = M25P_TRAITS,									\
	.erase = {										\
		{0xd8, KIB(32), {MS(1000), MS(3000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define N25Q_TRAITS										\
	.status_write = {MS(2), MS(8)}, .protect_mask = 0x7c,					\
	.failed = {0x70, 0x32}, .clear_failed_opcode = 0x50,					\
	.suspended = {0x70, 0x44}, .resume_opcode = 0x7a,					\
	.reset = SPI25_RESET_66_99, .reset_us_max = MS(500)

#define N25Q(part, jedec, bytes, erase_ms_typ, erase_ms_max, ...)				\
{												\
	SPI25_PART("Micron/Numonyx/ST", part, jedec, bytes), .program = {500, 5000},		\
	.spi25 = {N25Q_TRAITS, __VA_ARGS__},							\
	.erase = {										\
		{0x20, KIB(4), {MS(250), MS(3000)}},						\
		{0xd8, KIB(64), {MS(700), MS(3000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define MT25Q(part, jedec, bytes, erase_ms_typ, erase_ms_max, way)				\
{												\
	SPI25_PART("Micron", part, jedec, bytes), .program = {120, 2880},			\
	.spi25 = {N25Q_TRAITS, .addresses = (way), .wake_us_max = 30},				\
	.erase = {										\
		{OP_4K(way), KIB(4), {MS(50), MS(480)}},					\
		{OP_32K(way), KIB(32), {MS(112), MS(1120)}},					\
		{OP_SECTOR(way), KIB(64), {MS(208), MS(2080)}},					\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	M25P("M25P05-A", 0x202010, KIB(64), KIB(32), 1500, 6000),
	M25P("M25P10-A", 0x202011, KIB(128), KIB(32), 1700, 6000),
	M25P("M25P20", 0x202012, KIB(256), KIB(64), 3000, 6000),
	M25P("M25P40", 0x202013, KIB(512), KIB(64), 4500, 10000),
	M25P("M25P80", 0x202014, MIB(1), KIB(64), 10000, 20000),
	M25P("M25P16", 0x202015, MIB(2), KIB(64), 17000, 40000),
	M25P("M25P32", 0x202016, MIB(4), KIB(64), 34000, 80000),
	M25P("M25P64", 0x202017, MIB(8), KIB(64), 68000, 160000),
	N25Q("N25Q064..3E", 0x20ba17, MIB(8), 60000, 120000, .addresses = SPI25_ADDRESS_3),
	N25Q("N25Q128..3E", 0x20ba18, MIB(16), 170000, 250000, .addresses = SPI25_ADDRESS_3),
	N25Q("N25Q256..3E", 0x20ba19, MIB(32), 240000, 480000, .addresses = SPI25_ADDRESS_4_MODE,
		.mode_write_enable = true, .address_mode = {0x70, 0x01}),
	MT25Q("MT25QL128", 0x20ba18, MIB(16), 40000, 400000, SPI25_ADDRESS_3),
	MT25Q("MT25QL256", 0x20ba19, MIB(32), 77000, 400000, SPI25_ADDRESS_4_OPCODES),
	MT25Q("MT25QL512", 0x20ba20, MIB(64), 153000, 460000, SPI25_ADDRESS_4_OPCODES),
	M25P_RES("M25P05", 0x05, KIB(64), 2000, 6000),
	M25P_RES("M25P10", 0x10, KIB(128), 2000, 6000),
};
/* clang-format on */

const struct chip_list micron_chips = CHIP_LIST(chips);
