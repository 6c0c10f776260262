/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Vendors with few parts. */
#include "lists.h"

/* clang-format off */
/*
 * AMD Am29F. Erase times are for 5 V at the end of the part's life; the typical ones do not include
 * the programming to zeros that comes first. Autoselect needs no wait.
 */
static const struct flash_chip amd[] = {
	{
		.vendor = "AMD", .name = "Am29F040B", .buses = BUS_PARALLEL,
		JEDEC_IDENTIFIED(0x01a4), .size_bytes = KIB(512),
		JEDEC_BYTE_DRIVEN, .program = {7, 300},
		.erase = {
			{0x30, KIB(64), {MS(1000), MS(8000)}},
			{0x10, KIB(512), {MS(8000), MS(64000)}},
		},
	},
};
const struct chip_list amd_chips = CHIP_LIST(amd);

/*
 * AMIC A49LF040A (Version 1.0): the maxima are those of similar parts. Its chip erase works only on
 * a programmer's multiplexed bus, so it is left out.
 */
static const struct flash_chip amic[] = {
	{
		.vendor = "AMIC", .name = "A49LF040A", .buses = BUS_LPC,
		JEDEC_IDENTIFIED(0x379d), .size_bytes = KIB(512),
		.driver = &jedec_fwh_driver, .page_bytes = 256, .program_unit_bytes = 1,
		.program = {10, 100}, .jedec = {.id_wait_us = 10},
		.erase = {
			{0x50, KIB(64), {MS(1000), MS(8000)}},
		},
	},
};
const struct chip_list amic_chips = CHIP_LIST(amic);

/*
 * Eon EN25Q and EN25QH: datasheet of the EN25Q64 for typical times; maxima are the family's.
 */
#define EN25Q(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	SPI25_PART("Eon", part, jedec, bytes), .program = {1300, 5000},				\
	.spi25 = {.status_write = {MS(10), MS(50)}, .wake_us_max = 5, .protect_mask = 0x3c},	\
	.erase = {										\
		{0x20, KIB(4), {MS(90), MS(300)}},						\
		{0xd8, KIB(64), {MS(500), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip eon[] = {
	EN25Q("EN25Q64", 0x1c3017, MIB(8), 35000, 70000),
	EN25Q("EN25QH64", 0x1c7017, MIB(8), 35000, 70000),
	EN25Q("EN25QH128", 0x1c7018, MIB(16), 70000, 140000),
};
const struct chip_list eon_chips = CHIP_LIST(eon);

/*
 * Fudan FM25Q and XTX XT25F: no datasheet with times was at hand, so the times are those of similar
 * parts. `suspended` is not set.
 */
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
const struct chip_list fudan_chips = CHIP_LIST(fudan);
const struct chip_list xtx_chips = CHIP_LIST(xtx);

/* Intel's firmware hub. Times are those of similar parts; the status register shows the end. */
static const struct flash_chip intel[] = {
	{
		.vendor = "Intel", .name = "AT82802AB", .buses = BUS_FWH,
		.identify = &fwh_id, .id = 0x89ad, .driver = &fwh_driver,
		.size_bytes = KIB(512), .page_bytes = 256, .program_unit_bytes = 1,
		.program = {15, 300},
		.erase = {{0x20, KIB(64), {MS(1000), MS(10000)}}},
	},
};
const struct chip_list intel_chips = CHIP_LIST(intel);

/*
 * Microchip SST26: datasheet DS20005119J of the SST26VF064B. It has no power-down. Both ends have
 * smaller blocks, for boot code.
 */
static const struct erase_run sst26vf064b_blocks[] = {
	{KIB(8), 4},
	{KIB(32), 1},
	{KIB(64), 126},
	{KIB(32), 1},
	{KIB(8), 4},
	{0, 0},
};

#define SST26VF(part, jedec, bytes, erase_ms_typ, erase_ms_max)					\
{												\
	.vendor = "SST", .name = (part), .id = (jedec), .size_bytes = (bytes),			\
	.buses = BUS_SPI, .identify = &spi25_rdid, .driver = &sst26_driver,			\
	.page_bytes = 256, .program = {1000, 1500},						\
	.spi25 = {.status_write = {MS(1), MS(25)}, .suspended = {0x05, 0x0c}, .resume_opcode = 0x30,	\
		.reset = SPI25_RESET_66_99, .reset_us_max = MS(1)},				\
	.erase = {										\
		{0x20, KIB(4), {MS(18), MS(25)}},						\
		{0xd8, KIB(64), {MS(18), MS(25)}, sst26vf064b_blocks},				\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

static const struct flash_chip microchip[] = {
	SST26VF("SST26VF064B(A)", 0xbf2643, MIB(8), 35, 50),
};
const struct chip_list microchip_chips = CHIP_LIST(microchip);

/*
 * PMC Pm49FL004: no datasheet was at hand; its times are those of similar parts. It answers on LPC
 * and as a firmware hub.
 */
static const struct flash_chip pmc[] = {
	{
		.vendor = "PMC", .name = "Pm49FL004", .buses = BUS_LPC | BUS_FWH,
		JEDEC_IDENTIFIED(0x9d6e), .size_bytes = KIB(512),
		.driver = &jedec_fwh_driver, .page_bytes = 256, .program_unit_bytes = 1,
		.program = {25, 100}, .jedec = {.id_wait_us = 10},
		.erase = {
			{0x30, KIB(4), {MS(50), MS(400)}},
			{0x50, KIB(64), {MS(250), MS(2000)}},
		},
	},
};
const struct chip_list pmc_chips = CHIP_LIST(pmc);

/*
 * Puya P25Q-H: the times of its datasheet, from memory, or those of drivers for it if they are
 * slower. All erases take the same time, so the page erase (81h), which is not listed, has no
 * advantage here.
 */
#define P25Q(part, jedec, bytes)								\
{												\
	SPI25_PART("Puya", part, jedec, bytes), .program = {2000, 3000},			\
	.spi25 = {.status_write = {MS(8), MS(20)},						\
		.wake_us_max = 30, .protect_mask = 0x7c, .protect_mask_2 = 0x40,		\
		.status_two_bytes = true},							\
	.erase = {										\
		{0x20, KIB(4), {MS(8), MS(30)}},						\
		{0x52, KIB(32), {MS(8), MS(30)}},						\
		{0xd8, KIB(64), {MS(8), MS(30)}},						\
	}											\
}

static const struct flash_chip puya[] = {
	P25Q("P25Q16H", 0x856015, MIB(2)),
};
const struct chip_list puya_chips = CHIP_LIST(puya);

/*
 * ST M95 EEPROM. The datasheet gives only maxima; typical times are assumed to be half of them.
 * Parts without -D in their name have no ID at all: they need -c M95M02 --force.
 *
 * ST's firmware hub. Its chip erase is left out: it needs a programmer's multiplexed bus.
 */
static const struct flash_chip st[] = {
	{
		.vendor = "ST", .name = "M95M02", .id = 0x200012, .size_bytes = KIB(256),
		.buses = BUS_SPI, .identify = &eeprom_id, .driver = &spi25_driver,
		.page_bytes = 256, .program = {MS(5), MS(10)}, .overwrites = true,
		.spi25 = {.status_write = {MS(5), MS(10)}, .protect_mask = 0x0c},
	},
	{
		.vendor = "ST", .name = "M50FW040", .buses = BUS_FWH,
		.identify = &fwh_id, .id = 0x202c, .driver = &fwh_driver,
		.size_bytes = KIB(512), .page_bytes = 256, .program_unit_bytes = 1,
		.program = {10, 200},
		.erase = {{0x20, KIB(64), {MS(1000), MS(10000)}}},
	},
};
const struct chip_list st_chips = CHIP_LIST(st);

/*
 * XMC XM25QH: preliminary datasheet of the XM25QH128A for typical times; maxima are those of
 * similar parts, and so are all times of the C parts, which have a second status register.
 */
#define XM25QH(part, jedec, bytes, erase_ms_typ, erase_ms_max, ...)				\
{												\
	SPI25_PART("XMC", part, jedec, bytes), .program = {500, 3000},				\
	.spi25 = {.status_write = {MS(10), MS(50)}, __VA_ARGS__},				\
	.erase = {										\
		{0x20, KIB(4), {MS(40), MS(400)}},						\
		{0x52, KIB(32), {MS(200), MS(1600)}},						\
		{0xd8, KIB(64), {MS(300), MS(2000)}},						\
		{0xc7, (bytes), {MS(erase_ms_typ), MS(erase_ms_max)}},				\
	}											\
}

#define A_TRAITS .wake_us_max = 30, .protect_mask = 0x3c
#define C_TRAITS										\
	.wake_us_max = 100,									\
	.protect_mask = 0x7c, .protect_mask_2 = 0x40, .status_two_bytes = true,			\
	.reset = SPI25_RESET_66_99, .reset_us_max = MS(15)

static const struct flash_chip xmc[] = {
	XM25QH("XM25QH64C", 0x204017, MIB(8), 30000, 100000, C_TRAITS),
	XM25QH("XM25QH64A", 0x207017, MIB(8), 30000, 100000, A_TRAITS),
	XM25QH("XM25QH128C", 0x204018, MIB(16), 60000, 200000, C_TRAITS),
	XM25QH("XM25QH128A", 0x207018, MIB(16), 60000, 200000, A_TRAITS),
};
const struct chip_list xmc_chips = CHIP_LIST(xmc);

/* The fallback for parts that no other list has. This must be the last list. */
static const struct flash_chip generic[] = {
	{
		.vendor = "Unknown",
		.name = "SFDP-capable chip",
		.id = SPI25_SFDP_ID,
		.buses = BUS_SPI,
		.identify = &spi25_sfdp,
		.driver = &spi25_driver,
	},
};
const struct chip_list generic_chips = CHIP_LIST(generic);
/* clang-format on */
