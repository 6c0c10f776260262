/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SFDP_EXAMPLE_H
#define SFDP_EXAMPLE_H

#include <stdint.h>

#define SFDP_DWORD(value)                                                                          \
	(uint8_t)(value), (uint8_t)((value) >> 8), (uint8_t)((value) >> 16),                       \
		(uint8_t)((value) >> 24)

#define SFDP_EXAMPLE_TABLE 0x20
#define SFDP_EXAMPLE_DWORDS 16

/*
 * A made-up JESD216B description of a part of 16 MiB: headers of two tables, and the basic table.
 */
/* clang-format off */
static const uint8_t sfdp_example[] = {
	'S', 'F', 'D', 'P', 6, 1, 1, 0xff, /* two headers */
	0x00, 6, 1, SFDP_EXAMPLE_DWORDS, SFDP_EXAMPLE_TABLE, 0, 0, 0xff, /* the basic table */
	0x84, 0, 1, 2, 0x80, 0, 0, 0xff, /* the header of another table */
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* padding up to 20h */
	SFDP_DWORD(0xfff120e5), /* 1: 4 KiB with 20h */
	SFDP_DWORD(0x07ffffff), /* 2: 128 Mbit */
	SFDP_DWORD(0), SFDP_DWORD(0), SFDP_DWORD(0), SFDP_DWORD(0), SFDP_DWORD(0), /* 3 to 7 */
	/* 8, 9: 64 KiB with D8h, 4 KiB with 20h; 32 KiB with 52h, and none */
	SFDP_DWORD(0x200cd810), SFDP_DWORD(0x0000520f),
	/* 10: maximum 6 times typical; 160, 48, 128 ms as units of 16 ms */
	SFDP_DWORD(2u | (9u | 1u << 5) << 4 | (2u | 1u << 5) << 11 | (7u | 1u << 5) << 18),
	/* 11: maximum 4 times typical; 256 bytes a page in 640 us; the chip in 40 s */
	SFDP_DWORD(1u | 8u << 4 | (9u | 1u << 5) << 8 | (9u | 2u << 5) << 24),
	SFDP_DWORD(0), SFDP_DWORD(0), SFDP_DWORD(0), /* 12 to 14 */
	SFDP_DWORD(4u << 20), /* 15: QE in the second status register */
	SFDP_DWORD(0), /* 16 */
};
/* clang-format on */

#endif
