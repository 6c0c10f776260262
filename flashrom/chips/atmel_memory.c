/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Atmel AT29C writes pages in 10 ms at most. The software ID commands take as long, since they are
 * write cycles for the part. The datasheet gives 20 ms for a chip erase. AT49F needs no wait around
 * its ID; its datasheet gives only a chip erase of 10 s, which is the maximum for sectors, too.
 */
#include "lists.h"

/* clang-format off */
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
/* clang-format on */

/* A boot block, two parameter blocks, and two main blocks. */
static const struct erase_run boot_at_bottom[] = {
	{KIB(16), 1}, {KIB(8), 2}, {KIB(96), 1}, {KIB(128), 1}, {0}};
static const struct erase_run boot_at_top[] = {
	{KIB(128), 1}, {KIB(96), 1}, {KIB(8), 2}, {KIB(16), 1}, {0}};

static const struct flash_chip chips[] = {
	AT29C("AT29C512", 0x1f5d, KIB(64), 128),
	AT29C("AT29C020", 0x1fda, KIB(256), 256),
	AT49F002("AT49F002(N)", 0x1f07, boot_at_bottom),
	AT49F002("AT49F002(N)T", 0x1f08, boot_at_top),
};

const struct chip_list atmel_memory_chips = CHIP_LIST(chips);
