/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Atmel AT45DB, later Adesto's, with the page size that they have from the factory. All have the
 * times of the AT45DB321D, the slowest. Sector erases (7Ch) are not listed, since they take longer
 * than the erases of their blocks, nor are chip erases (C7h 94h 80h 9Ah), which the errata of D
 * parts advise against. E parts answer RDID with the same three bytes, obey the same commands and
 * are faster: they are found under the D part's name.
 */
#include "dataflash.h"
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

static const struct flash_chip chips[] = {
	AT45DB("AT45DB011D", 0x1f2200, 512, 264),
	AT45DB("AT45DB021D", 0x1f2300, 1024, 264),
	AT45DB("AT45DB041D", 0x1f2400, 2048, 264),
	AT45DB("AT45DB081D", 0x1f2500, 4096, 264),
	AT45DB("AT45DB161D", 0x1f2600, 4096, 528),
	AT45DB("AT45DB321D", 0x1f2701, 8192, 528),
	AT45DB("AT45DB642D", 0x1f2800, 8192, 1056),
};
/* clang-format on */

const struct chip_list atmel_chips = CHIP_LIST(chips);
