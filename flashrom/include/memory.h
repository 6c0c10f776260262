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

#endif
