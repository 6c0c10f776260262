/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SFDP_H
#define SFDP_H

#include <stddef.h>
#include <stdint.h>

#include "chip.h"

/*
 * Serial Flash Discoverable Parameters, JEDEC JESD216: what a part says of itself. Bytes come from
 * the part and may be anything; nothing here looks beyond what it was given.
 */

#define SFDP_HEADER_BYTES 8
#define SFDP_TABLE_BYTES_MAX 80 /* the size of a basic flash parameter table that ours reads */

/** Where the basic flash parameter table lies. */
struct sfdp_table {
	uint32_t address;
	size_t bytes; /* SFDP_TABLE_BYTES_MAX at most */
};

/** Number of parameter headers after the SFDP header, or 0 if that is none. */
unsigned int sfdp_header_count(const uint8_t header[SFDP_HEADER_BYTES]);

/** 0 if a parameter header is that of a basic flash parameter table, -ENOENT if not. */
int sfdp_parse_header(const uint8_t header[SFDP_HEADER_BYTES], struct sfdp_table *table);

/**
 * Fill in size, page, erase commands, times and traits of `chip` from that table. 0, or -EINVAL
 * with `why` (a clause) if it makes no sense, or -ENOTSUP if it is beyond what the driver can do.
 */
int sfdp_parse_table(const uint8_t *table, size_t bytes, struct flash_chip *chip, const char **why);

#endif
