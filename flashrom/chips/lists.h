/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CHIPS_LISTS_H
#define CHIPS_LISTS_H

#include "chip.h"
#include "memory.h"
#include "spi25.h"

/* Sizes are in bytes, times in microseconds; datasheets give larger units. */
#define KIB(n) ((n) * UINT32_C(1024))
#define MIB(n) ((n) * UINT32_C(1048576))
#define MS(n) ((n) * UINT32_C(1000))

/* The common fields of most parts of the 25 series. */
#define SPI25_PART(maker, part, jedec, bytes)                                                      \
	.vendor = (maker), .name = (part), .id = (jedec), .size_bytes = (bytes), .buses = BUS_SPI, \
	.identify = &spi25_rdid, .driver = &spi25_driver, .page_bytes = 256

/* The erase opcodes of a part that takes addresses in this way (enum spi25_addresses). */
#define OP_FOR(way, short, long) ((way) == SPI25_ADDRESS_4_OPCODES ? (long) : (short))
#define OP_4K(way) OP_FOR(way, 0x20, 0x21)
#define OP_32K(way) OP_FOR(way, 0x52, 0x5c)
#define OP_SECTOR(way) OP_FOR(way, 0xd8, 0xdc)

/*
 * Parts with JEDEC commands. Byte parts have no pages: 256 is only a unit for the planner. Page
 * parts lose the bytes of a page that are not written.
 */
#define JEDEC_IDENTIFIED(part_id) .identify = &jedec_id, .id = (part_id)
#define JEDEC_BYTE_DRIVEN .driver = &jedec_byte_driver, .page_bytes = 256, .program_unit_bytes = 1
#define JEDEC_PAGE_DRIVEN(bytes)                                                                   \
	.driver = &jedec_page_driver, .page_bytes = (bytes), .overwrites = true, .whole_pages = true

#define CHIP_LIST(chips) {(chips), sizeof(chips) / sizeof((chips)[0])}

/* One list per vendor; lists.c combines them. */
extern const struct chip_list adesto_chips;
extern const struct chip_list amd_chips;
extern const struct chip_list amic_chips;
extern const struct chip_list atmel_chips;
extern const struct chip_list eon_chips;
extern const struct chip_list fudan_chips;
extern const struct chip_list generic_chips;
extern const struct chip_list gigadevice_chips;
extern const struct chip_list intel_chips;
extern const struct chip_list issi_chips;
extern const struct chip_list macronix_chips;
extern const struct chip_list microchip_chips;
extern const struct chip_list micron_chips;
extern const struct chip_list pmc_chips;
extern const struct chip_list puya_chips;
extern const struct chip_list spansion_chips;
extern const struct chip_list sst_chips;
extern const struct chip_list st_chips;
extern const struct chip_list winbond_chips;
extern const struct chip_list xmc_chips;
extern const struct chip_list xtx_chips;

#endif
