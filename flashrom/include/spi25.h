/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SPI25_H
#define SPI25_H

#include <stddef.h>
#include <stdint.h>

#include "flash.h"

/*
 * SPI NOR parts of the 25 series, and what other SPI drivers share with them.
 *
 * Busy times are never waited out blindly: every write, erase and program is followed by status
 * reads until the part is ready, and none but a status read is sent before that.
 */

extern const struct chip_driver spi25_driver;

/** RDID (9Fh): manufacturer, type and capacity, 0xef4018. Wakes a part that sleeps. */
extern const struct identify_method spi25_rdid;

/** Release from power-down (tRES1, tRES2): the longest of all parts, for one that is unknown. */
#define SPI25_WAKE_US_MAX 100

/** One chip-select cycle. */
int spi_command(
	struct flash *flash, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes);

/** A command of nothing but its opcode. */
int spi_simple_command(struct flash *flash, uint8_t opcode);

/** The first status register. */
int spi25_status_read(struct flash *flash, uint8_t *status);

/**
 * Write enable, the command itself, and the wait for its end. `what` names it in messages ("an
 * erase").
 */
int spi25_busy_command(struct flash *flash, const uint8_t *tx, size_t tx_bytes,
	const struct busy_time *busy, const char *what);

/**
 * Set the first status register, keeping the second where the chip would clear it. `status` is
 * what to write; protection and other non-volatile bits take effect before this returns.
 */
int spi25_status_write(struct flash *flash, uint8_t status);

/** The driver's `unprotect` and `reprotect`: block protection bits of the status register. */
int spi25_unprotect(struct flash *flash, bool force);
int spi25_reprotect(struct flash *flash);

#endif
