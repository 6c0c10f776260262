/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "flash.h"

/*
 * Parts on a memory bus (parallel, LPC, FWH), where each byte is a cycle. Addresses count from the
 * part's first byte; `chip` is the chip that was found, or that a query looks for. Functions return
 * 0, or -errno with the cause logged.
 */

int memory_read_byte(
	struct flash *flash, const struct flash_chip *chip, uint32_t address, uint8_t *value);

/** Writes a byte. It may be held back until the next read or wait. */
int memory_write_byte(
	struct flash *flash, const struct flash_chip *chip, uint32_t address, uint8_t value);

/** The `read` of the drivers. It reads in pieces that the programmer can take. */
int memory_read(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes);

/** The offset from an FWH part's array to its registers, which lie 4 MiB below it. */
#define MEMORY_REGISTERS (UINT32_MAX - UINT32_C(0x400000) + 1)

/*
 * Parts with JEDEC commands, on any memory bus: AAh to 5555h, 55h to 2AAAh, then the command. Parts
 * that decode fewer address bits see the same cycles at 555h and 2AAh, so drivers need not know.
 *
 * While such a part is busy, bit 7 of a read is inverted and bit 6 changes with each read. A part
 * that ignored the command shows neither.
 */

/** Programs bytes one by one, after an erase. */
extern const struct chip_driver jedec_byte_driver;

/** The same, with the block lock registers of FWH parts. */
extern const struct chip_driver jedec_fwh_driver;

/** Writes whole pages, without an erase. */
extern const struct chip_driver jedec_page_driver;

/**
 * Software ID: manufacturer and device, for example 0xbfb7. A manufacturer beyond the first 126 has
 * a continuation code before it (0x7f1c20). ID mode is left also after an error.
 */
extern const struct identify_method jedec_id;

/**
 * The longest time of any part to enter or leave ID mode (tIDA), for a part that is not known yet.
 * On a parallel bus that is Atmel's AT29C, which needs a whole write cycle for the change.
 */
#define JEDEC_ID_US_MAX_PARALLEL 10000
#define JEDEC_ID_US_MAX 10

/* Firmware hubs with Intel's commands: 82802AB, M50FW040 and similar parts. */

extern const struct chip_driver fwh_driver;

/** 90h: manufacturer and device (0x89ad). It ends in read-array mode, also after an error. */
extern const struct identify_method fwh_id;

/*
 * The lock register of each 64 KiB block of an FWH part, whatever its command set: write lock, read
 * lock, and lock-down, which keeps both as they are until the next reset. After a reset every block
 * is write-locked.
 *
 * Read locks are lifted from open to close, because a write must read what it restores around its
 * range. Write locks are lifted only for a write. Both are restored from `flash->protection`.
 */
int fwh_locks_open(struct flash *flash);
int fwh_locks_close(struct flash *flash);
int fwh_unprotect(struct flash *flash, bool force);
int fwh_reprotect(struct flash *flash);

#endif
