/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Winbond W25Q: datasheets of W25Q16DV (Rev D), W25Q16JV (Rev D), W25Q64FV (Rev D), W25Q64JV (Rev
 * J), W25Q128FV (Rev H) and W25Q128JV (Rev D). Maxima are the slowest of the revisions that share
 * an ID; typical erase times are those of most revisions (the W25Q16DV takes a third more). tRES1
 * is 3 us, but 30 us on the W25Q64FV. On older parts a one-byte 01h write clears the second status
 * register (QE). WPS in the third one, if the part has it, replaces the protection bits by volatile
 * block locks, which are all set at power-up.
 *
 * Of the 256 Mbit parts only the JV has all commands for addresses of four bytes. W77Q12NW is two
 * dies that erase at the same time; its times are assumed to be those of W25Q64JV and W25Q128JV.
 */
#include "lists.h"

/* clang-format off */
#define W25Q_FIELDS(part, jedec, bytes)								\
	SPI25_PART("Winbond", part, jedec, bytes), .program = {700, 3000}

#define W25Q_TRAITS										\
	.status_write = {MS(15), MS(20)}, .wake_us_max = 30,					\
	.protect_mask = 0x7c, .protect_mask_2 = 0x40, .protect_mask_3 = 0x04,			\
	.status_two_bytes = true,								\
	.suspended = {0x35, 0x80}, .resume_opcode = 0x7a,					\
	.reset = SPI25_RESET_66_99, .reset_us_max = 30

#define W25Q(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	W25Q_FIELDS(part, jedec, bytes),							\
	.spi25 = {W25Q_TRAITS},									\
	.erase = {										\
		{0x20, KIB(4), {MS(45), MS(400)}},						\
		{0x52, KIB(32), {MS(120), MS(1600)}},						\
		{0xd8, KIB(64), {MS(150), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define W25Q_AND(part, jedec, bytes, erase_ms_typ, erase_ms_max, ...)				\
{												\
	W25Q_FIELDS(part, jedec, bytes),							\
	.spi25 = {W25Q_TRAITS, __VA_ARGS__},							\
	.erase = {										\
		{0x20, KIB(4), {MS(45), MS(400)}},						\
		{0x52, KIB(32), {MS(120), MS(1600)}},						\
		{0xd8, KIB(64), {MS(150), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define W25Q_4(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	W25Q_FIELDS(part, jedec, bytes),							\
	.spi25 = {W25Q_TRAITS,									\
		.addresses = SPI25_ADDRESS_4_OPCODES},						\
	.erase = {										\
		{0x21, KIB(4), {MS(45), MS(400)}},						\
		{0xdc, KIB(64), {MS(150), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

/*
 * Winbond on memory buses. W29 writes pages and has a six-byte ID entry, tIDA 10 us; steppings with
 * the usual entry are not listed. W39V040A erases sectors of 64 KiB and pages of 4 KiB; its
 * datasheet gives only maxima. The B and C parts erase sectors; their times are those of similar
 * parts.
 */
#define W29(part, part_id, bytes)								\
{												\
	.vendor = "Winbond", .name = (part), .buses = BUS_PARALLEL,				\
	JEDEC_IDENTIFIED(part_id), .size_bytes = (bytes),					\
	JEDEC_PAGE_DRIVEN(128), .program = {5000, 10000},					\
	.jedec = {.id_wait_us = 10, .id_six_bytes = true},		\
	.erase = {{0x10, (bytes), {MS(50), MS(100)}}},						\
}

#define W39V040(part, part_id)									\
{												\
	.vendor = "Winbond", .name = (part), .buses = BUS_LPC,					\
	JEDEC_IDENTIFIED(part_id), .size_bytes = KIB(512),					\
	JEDEC_BYTE_DRIVEN, .program = {35, 100}, .jedec = {.id_wait_us = 10},			\
	.erase = {										\
		{0x30, KIB(64), {MS(250), MS(2000)}},						\
		{0x10, KIB(512), {MS(1250), MS(8000)}},						\
	},											\
}

static const struct flash_chip chips[] = {
	W25Q("W25Q40.V", 0xef4013, KIB(512), 1000, 4000),
	W25Q("W25Q80.V", 0xef4014, MIB(1), 2000, 10000),
	W25Q("W25Q16.V", 0xef4015, MIB(2), 5000, 25000),
	W25Q("W25Q32BV/W25Q32CV/W25Q32DV", 0xef4016, MIB(4), 10000, 50000),
	W25Q("W25Q64BV/W25Q64CV/W25Q64FV", 0xef4017, MIB(8), 30000, 120000),
	W25Q("W25Q64JV-.Q", 0xef4017, MIB(8), 20000, 100000),
	W25Q("W25Q128.V", 0xef4018, MIB(16), 40000, 200000),
	W25Q_AND("W25Q256FV", 0xef4019, MIB(32), 80000, 400000,
		.addresses = SPI25_ADDRESS_4_MODE, .address_mode = {0x15, 0x01}),
	W25Q_4("W25Q256JV_Q", 0xef4019, MIB(32), 80000, 400000),
	W25Q_4("W25Q512JV", 0xef4020, MIB(64), 200000, 1000000),
	W25Q("W25Q32.W", 0xef6016, MIB(4), 10000, 50000),
	W25Q("W25Q64.W", 0xef6017, MIB(8), 20000, 100000),
	W25Q("W25Q128.W", 0xef6018, MIB(16), 40000, 200000),
	W25Q("W25Q64JV-.M", 0xef7017, MIB(8), 20000, 100000),
	W25Q("W25Q128.V..M", 0xef7018, MIB(16), 40000, 200000),
	W25Q_4("W25Q256JV_M", 0xef7019, MIB(32), 80000, 400000),
	W25Q("W25Q64JW...M", 0xef8017, MIB(8), 20000, 100000),
	W25Q("W25Q128.JW.DTR", 0xef8018, MIB(16), 40000, 200000),
	W25Q_AND("W77Q12NW", 0xef8a18, MIB(16), 20000, 200000, .dies = 2),
	W29("W29C010(M)/W29C011A/W29EE011/W29EE012-old", 0xdac1, KIB(128)),
	W29("W29C020(C)/W29C022", 0xda45, KIB(256)),
	{
		.vendor = "Winbond", .name = "W39V040A", .buses = BUS_LPC,
		JEDEC_IDENTIFIED(0xda3d), .size_bytes = KIB(512),
		JEDEC_BYTE_DRIVEN, .program = {35, 100}, .jedec = {.id_wait_us = 10},
		.erase = {
			{0x50, KIB(4), {MS(12), MS(25)}},
			{0x30, KIB(64), {MS(12), MS(25)}},
			{0x10, KIB(512), {MS(50), MS(100)}},
		},
	},
	W39V040("W39V040B", 0xda54),
	W39V040("W39V040C", 0xda50),
};
/* clang-format on */

const struct chip_list winbond_chips = CHIP_LIST(chips);
