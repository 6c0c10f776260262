/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "flash.h"

/*
 * Parts on a memory bus (parallel, LPC, FWH), where each byte is a cycle. Addresses count from the
 * part's first byte; `chip` is what the part is, or is asked to be. 0 or -errno, cause logged.
 */

int memory_read_byte(
	struct flash *flash, const struct flash_chip *chip, uint32_t address, uint8_t *value);

/** May be held back until the next read or wait. */
int memory_write_byte(
	struct flash *flash, const struct flash_chip *chip, uint32_t address, uint8_t value);

/** The `read` of the drivers: in pieces as long as the programmer takes. */
int memory_read(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes);

/** Where the registers of an FWH part are, below its array; to be added to an address. */
#define MEMORY_REGISTERS (UINT32_MAX - UINT32_C(0x400000) + 1)

#endif
