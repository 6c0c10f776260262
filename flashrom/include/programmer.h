/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROGRAMMER_H
#define PROGRAMMER_H

#include <stddef.h>
#include <stdint.h>

#include "bus.h"
#include "clock.h"
#include "log.h"

struct programmer;

/** Functions return 0, or a negative errno after having logged the cause. */
struct programmer_ops {
	/**
	 * Speak to the part on one of `buses` from now on; limits below hold from then on. NULL:
	 * there is one bus only.
	 */
	int (*select_bus)(struct programmer *programmer, uint8_t bus);

	/**
	 * One chip-select cycle: send `tx_bytes`, then receive `rx_bytes`. Sizes stay within the
	 * programmer's limits. NULL without BUS_SPI.
	 */
	int (*spi_command)(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
		uint8_t *rx, size_t rx_bytes);

	/**
	 * A cycle that sends only, and that may be held back until the next spi_command, which then
	 * follows it without a pause. NULL: nothing is won by that, spi_command serves.
	 */
	int (*spi_hold)(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes);

	/**
	 * Memory cycles, for a part on one of BUSES_MEMORY. Addresses have 24 bits; the part's last
	 * byte is at 0xffffff. Writes may be held back until flush() or the next read, which come
	 * after them in any case. NULL without such a bus.
	 */
	int (*read_bytes)(
		struct programmer *programmer, uint32_t address, uint8_t *data, size_t bytes);
	int (*write_byte)(struct programmer *programmer, uint32_t address, uint8_t value);
	int (*flush)(struct programmer *programmer);

	/** Let go of the bus and free the programmer. */
	void (*destroy)(struct programmer *programmer);
};

/** The flash drivers' view of a programmer; a driver embeds this as its first member. */
struct programmer {
	const char *name;
	const struct programmer_ops *ops;
	uint8_t buses;
	/* The longest of one SPI command; reads of memory cycles are bounded by the latter, too. */
	size_t write_bytes_max;
	size_t read_bytes_max;
	/*
	 * Memory cycles: how many neighbours reach the part without a pause when they are written
	 * right after a flush and at most three other writes. 0: any number.
	 */
	size_t burst_bytes_max;
	/* Memory cycles: the largest part that can be reached whole. 0: any. */
	uint32_t size_bytes_max;
	/*
	 * When the part's supply may have come, since the programmer turned its pins on: a moment
	 * of the clock that it was opened with. 0: long ago.
	 */
	uint64_t powered_ns;
};

/** A kind of programmer, as named before the colon of `-p NAME:KEY=VALUE,...`. */
struct programmer_driver {
	const char *name;
	const char *usage;
	/** `params` is what follows the colon, "" without one. Logs the cause of any failure. */
	int (*open)(const char *params, const struct clock *clock, const struct log *log,
		struct programmer **out);
};

/** All drivers, ended by NULL. */
extern const struct programmer_driver *const programmer_drivers[];

/** Open what `spec` ("serprog:ip=localhost:2000") names. 0, or a negative errno (cause logged). */
int programmer_open(const char *spec, const struct clock *clock, const struct log *log,
	struct programmer **out);

/** NULL is fine. */
void programmer_destroy(struct programmer *programmer);

#endif
