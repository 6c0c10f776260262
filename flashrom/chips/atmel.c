/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Atmel AT45DB, later Adesto's, with their factory page size. All have the times of the AT45DB321D,
 * the slowest. Two erases are not listed: a sector erase (7Ch) takes longer than the erases of its
 * blocks, and the errata of D parts advise against the chip erase (C7h 94h 80h 9Ah). E parts are
 * found under the D part's name: they have the same three ID bytes and commands, and are faster.
 */
#include "lists.h"

/* clang-format off */
#define AT45DB(part, jedec, pages, bytes)							\
{												\
	.vendor = "Atmel", .name = (part), .id = (jedec), .size_bytes = (pages) * (bytes),	\
	.buses = BUS_SPI, .identify = &dataflash_id, .driver = &dataflash_driver,		\
	.page_bytes = (bytes), .program = {MS(3), MS(6)},					\
	.whole_pages = true, .blank_only = true,						\
	.erase = {										\
		{0x81, (bytes), {MS(15), MS(35)}},						\
		{0x50, 8 * (bytes), {MS(45), MS(100)}},						\
	}											\
}

/*
 * Atmel AT29C writes pages in 10 ms at most. The software ID commands take as long, since they are
 * write cycles for the part. The datasheet gives 20 ms for a chip erase. AT49F needs no wait before
 * or after its ID is read. Its datasheet gives only the time of a chip erase, 10 s, which is taken
 * for sectors, too.
 */
#define AT29C(part, part_id, bytes, page)							\
{												\
	.vendor = "Atmel", .name = (part), .buses = BUS_PARALLEL,				\
	JEDEC_IDENTIFIED(part_id), .size_bytes = (bytes),					\
	JEDEC_PAGE_DRIVEN(page), .program = {5000, 10000},					\
	.jedec = {.id_wait_us = 10000},					\
	.erase = {{0x10, (bytes), {MS(20), MS(100)}}},						\
}

#define AT49F002(part, part_id, sectors)							\
{												\
	.vendor = "Atmel", .name = (part), .buses = BUS_PARALLEL,				\
	JEDEC_IDENTIFIED(part_id), .size_bytes = KIB(256),					\
	JEDEC_BYTE_DRIVEN, .program = {10, 50},							\
	.erase = {										\
		{0x30, KIB(128), {MS(1000), MS(10000)}, (sectors)},				\
		{0x10, KIB(256), {MS(3000), MS(10000)}},					\
	}											\
}

/* A boot block, two parameter blocks, and two main blocks. */
static const struct erase_run boot_at_bottom[] = {
	{KIB(16), 1}, {KIB(8), 2}, {KIB(96), 1}, {KIB(128), 1}, {0}};
static const struct erase_run boot_at_top[] = {
	{KIB(128), 1}, {KIB(96), 1}, {KIB(8), 2}, {KIB(16), 1}, {0}};

static const struct flash_chip chips[] = {
	AT45DB("AT45DB011D", 0x1f2200, 512, 264),
	AT45DB("AT45DB021D", 0x1f2300, 1024, 264),
	AT45DB("AT45DB041D", 0x1f2400, 2048, 264),
	AT45DB("AT45DB081D", 0x1f2500, 4096, 264),
	AT45DB("AT45DB161D", 0x1f2600, 4096, 528),
	AT45DB("AT45DB321D", 0x1f2701, 8192, 528),
	AT45DB("AT45DB642D", 0x1f2800, 8192, 1056),
	AT29C("AT29C512", 0x1f5d, KIB(64), 128),
	AT29C("AT29C020", 0x1fda, KIB(256), 256),
	AT49F002("AT49F002(N)", 0x1f07, boot_at_bottom),
	AT49F002("AT49F002(N)T", 0x1f08, boot_at_top),
};
/* clang-format on */

const struct chip_list atmel_chips = CHIP_LIST(chips);
