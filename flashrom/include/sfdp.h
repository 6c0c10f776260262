/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SFDP_H
#define SFDP_H

#include <stddef.h>
#include <stdint.h>

#include "chip.h"

/*
 * Serial Flash Discoverable Parameters, JEDEC JESD216: a part's description of itself. The bytes
 * may have any value; no function here reads beyond the bytes that it was given.
 */

#define SFDP_HEADER_BYTES 8
#define SFDP_TABLE_BYTES_MAX 80 /* longer basic flash parameter tables are cut */

/** The place of the basic flash parameter table. */
struct sfdp_table {
	uint32_t address;
	size_t bytes; /* SFDP_TABLE_BYTES_MAX at most */
};

/** Returns the number of parameter headers, or 0 if `header` is no SFDP header. */
unsigned int sfdp_header_count(const uint8_t header[SFDP_HEADER_BYTES]);

/** Reads the parameter header of a basic flash parameter table. Returns -ENOENT for any other. */
int sfdp_parse_header(const uint8_t header[SFDP_HEADER_BYTES], struct sfdp_table *table);

/**
 * Fills in size, page, erase commands, times and traits of `chip` from that table. Returns 0,
 * -EINVAL if it makes no sense, or -ENOTSUP if the driver does not support the part; `why` is then
 * a clause that tells the cause.
 */
int sfdp_parse_table(const uint8_t *table, size_t bytes, struct flash_chip *chip, const char **why);

#endif
