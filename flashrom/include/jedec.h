/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef JEDEC_H
#define JEDEC_H

#include <stdint.h>

#include "flash.h"

/*
 * Parts with JEDEC commands, on any memory bus: AAh to 5555h, 55h to 2AAAh, then the command. Parts
 * that decode fewer address bits see the same cycles at 555h and 2AAh, so nobody has to know.
 *
 * While such a part is busy, bit 7 of what is read is the opposite of what it will be, and bit 6
 * changes from read to read. A part that ignored the command does neither.
 */

/** Bytes are programmed one by one, after an erase. */
extern const struct chip_driver jedec_byte_driver;

/** Likewise, with the block lock registers of FWH parts. */
extern const struct chip_driver jedec_fwh_driver;

/** Pages are written whole, without an erase. */
extern const struct chip_driver jedec_page_driver;

/**
 * Software ID: manufacturer and device, 0xbfb7. A manufacturer beyond the first 126 comes with its
 * continuation code, 0x7f1c20. ID mode is left in any case.
 */
extern const struct identify_method jedec_id;

/**
 * Until a part is known, nobody knows how long it takes to enter and leave ID mode (tIDA). On a
 * parallel bus it may be one of Atmel's 29C, for which that is a write cycle.
 */
#define JEDEC_ID_US_MAX_PARALLEL 10000
#define JEDEC_ID_US_MAX 10

/** Changes from one read of a busy part to the next. */
#define JEDEC_TOGGLE 0x40

/** AAh, 55h and `opcode`. */
int jedec_command(struct flash *flash, const struct flash_chip *chip, uint8_t opcode);

/** Wait for the end of an operation after which `address` reads `value`. */
int jedec_wait(struct flash *flash, const struct busy_time *busy, const char *what,
	uint32_t address, uint8_t value);

/** The drivers' `erase`. */
int jedec_erase(struct flash *flash, const struct chip_erase *erase, uint32_t address);

#endif
