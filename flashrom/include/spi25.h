/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SPI25_H
#define SPI25_H

#include <stdint.h>

#include "chip.h"
#include "clock.h"
#include "log.h"
#include "programmer.h"

/**
 * A SPI NOR part of the 25 series behind a programmer. `chip` may be NULL until it is known; only
 * the functions that say so work without it.
 *
 * Busy times are never waited out blindly: every write, erase and program is followed by status
 * reads until the part is ready, and none but a status read is sent before that.
 */
struct spi25 {
	struct programmer *programmer;
	const struct clock *clock;
	const struct log *log;
	const struct flash_chip *chip;
};

/** What a status register answers while nothing drives the data line. */
#define SPI25_ID_NOTHING UINT32_C(0xffffff)

/**
 * The JEDEC ID; needs no `chip`. Waits for an operation that an earlier session left running, and
 * releases a silent part from power-down, giving it `wake_us`.
 * 0 or -errno, -ENODEV if nothing answers.
 */
int spi25_identify(const struct spi25 *flash, uint32_t wake_us, uint32_t *jedec_id);

/** Read any stretch. */
int spi25_read(const struct spi25 *flash, uint32_t address, uint8_t *data, size_t bytes);

/** Program any stretch, page by page. Bits only go from 1 to 0. */
int spi25_program(const struct spi25 *flash, uint32_t address, const uint8_t *data, size_t bytes);

/** Run one of the chip's erase commands on the block at `address` and wait for its end. */
int spi25_erase(const struct spi25 *flash, const struct chip_erase *erase, uint32_t address);

/** The first status register. */
int spi25_status_read(const struct spi25 *flash, uint8_t *status);

/**
 * Set the first status register, keeping the second where the chip would clear it. `status` is
 * what to write; protection and other non-volatile bits take effect before this returns.
 */
int spi25_status_write(const struct spi25 *flash, uint8_t status);

/** Time between two status reads of an operation that typically takes `typ_us`. */
uint32_t spi25_poll_interval_us(uint32_t typ_us);

/** When an operation counts as never going to end. */
uint64_t spi25_timeout_ns(const struct busy_time *busy);

#endif
