/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Macronix MX25L: the datasheets of the E revisions, which are slower than the F ones that share
 * their IDs. Old mask revisions take up to 100 us to wake. On the D and small E parts 52h erases
 * 64 KiB like D8h, so it is not listed there.
 *
 * E parts of 256 Mbit have no commands for addresses of four bytes, but a mode for them, and a bit
 * in the security register (2Bh) that shows it. On F parts that bit shows suspended programs.
 *
 * MX25R: the times in the SFDP of an MX25R6435F, in its low-power mode. MX25U and MX25V: no
 * datasheet was at hand, so they have the times of the E parts, and `suspended` is not set.
 *
 * Macronix MX29F. The C revision erases in 0.7 s (sector) and 4 s (chip); maxima are those of the
 * first revision.
 */
#include "lists.h"

/* clang-format off */
#define MX25L_FIELDS(part, jedec, bytes)							\
	SPI25_PART("Macronix", part, jedec, bytes), .program = {1400, 5000}

#define MX25L_TRAITS										\
	.status_write = {MS(40), MS(100)}, .wake_us_max = 100, .protect_mask = 0x3c

#define MX25L_F_TRAITS										\
	.suspended = {0x2b, 0x0c}, .resume_opcode = 0x30,					\
	.reset = SPI25_RESET_66_99, .reset_us_max = MS(12)

#define MX25_LOW_TRAITS .reset = SPI25_RESET_66_99, .reset_us_max = MS(15)

#define MX25L(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	MX25L_FIELDS(part, jedec, bytes),							\
	.spi25 = {MX25L_TRAITS},								\
	.erase = {										\
		{0x20, KIB(4), {MS(60), MS(300)}},						\
		{0xd8, KIB(64), {MS(700), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define MX25L_32K(part, jedec, bytes, erase_ms_typ, erase_ms_max, way, ...)			\
{												\
	MX25L_FIELDS(part, jedec, bytes),							\
	.spi25 = {MX25L_TRAITS, .addresses = (way), __VA_ARGS__},				\
	.erase = {										\
		{OP_4K(way), KIB(4), {MS(60), MS(300)}},					\
		{OP_32K(way), KIB(32), {MS(500), MS(2000)}},					\
		{OP_SECTOR(way), KIB(64), {MS(700), MS(2000)}},					\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define MX25R(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	SPI25_PART("Macronix", part, jedec, bytes), .program = {900, 5400},			\
	.spi25 = {MX25L_TRAITS, MX25_LOW_TRAITS},						\
	.erase = {										\
		{0x20, KIB(4), {MS(48), MS(384)}},						\
		{0x52, KIB(32), {MS(240), MS(1920)}},						\
		{0xd8, KIB(64), {MS(480), MS(3840)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip chips[] = {
	MX25L("MX25L8005/MX25L8006E/MX25L8008E/MX25V8005", 0xc22014, MIB(1), 7000, 15000),
	MX25L("MX25L1605D/MX25L1608D/MX25L1673E", 0xc22015, MIB(2), 14000, 30000),
	MX25L("MX25L3206E/MX25L3208E", 0xc22016, MIB(4), 25000, 50000),
	MX25L("MX25L6406E/MX25L6408E", 0xc22017, MIB(8), 50000, 80000),
	MX25L_32K("MX25L6436E/MX25L6445E/MX25L6465E/MX25L6473E/MX25L6473F",
		0xc22017, MIB(8), 50000, 80000, SPI25_ADDRESS_3, MX25L_F_TRAITS),
	MX25L_32K("MX25L12833F/MX25L12835F/MX25L12845E/MX25L12865E/MX25L12873F",
		0xc22018, MIB(16), 80000, 200000, SPI25_ADDRESS_3, MX25L_F_TRAITS),
	MX25L_32K("MX25L25635E", 0xc22019, MIB(32), 160000, 400000,
		SPI25_ADDRESS_4_MODE, .address_mode = {0x2b, 0x04}),
	MX25L_32K("MX25L25635F/MX25L25645G", 0xc22019, MIB(32), 160000, 400000,
		SPI25_ADDRESS_4_OPCODES, MX25L_F_TRAITS),
	MX25L_32K("MX66L51235F/MX25L51245G", 0xc2201a, MIB(64), 200000, 600000,
		SPI25_ADDRESS_4_OPCODES, MX25L_F_TRAITS),
	MX25R("MX25R6435F", 0xc22817, MIB(8), 52000, 312000),
	MX25L_32K("MX25U6435E/F", 0xc22537, MIB(8), 50000, 80000,
		SPI25_ADDRESS_3, MX25_LOW_TRAITS),
	MX25L_32K("MX25U12835F", 0xc22538, MIB(16), 80000, 200000,
		SPI25_ADDRESS_3, MX25_LOW_TRAITS),
	MX25L_32K("MX25V8035F", 0xc22314, MIB(1), 7000, 15000, SPI25_ADDRESS_3, MX25_LOW_TRAITS),
	{
		.vendor = "Macronix", .name = "MX29F040", .buses = BUS_PARALLEL,
		JEDEC_IDENTIFIED(0xc2a4), .size_bytes = KIB(512),
		JEDEC_BYTE_DRIVEN, .program = {7, 300},
		.erase = {
			{0x30, KIB(64), {MS(700), MS(15000)}},
			{0x10, KIB(512), {MS(4000), MS(64000)}},
		},
	},
};
/* clang-format on */

const struct chip_list macronix_chips = CHIP_LIST(chips);
