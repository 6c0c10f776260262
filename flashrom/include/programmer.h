/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROGRAMMER_H
#define PROGRAMMER_H

#include <stddef.h>
#include <stdint.h>

#include "bus.h"
#include "clock.h"
#include "log.h"

struct programmer;

/** The functions of a programmer. They return 0, or -errno with the cause logged. */
struct programmer_ops {
	/**
	 * Selects one of `buses`; the limits in struct programmer are then valid. NULL: there is
	 * only one bus.
	 */
	int (*select_bus)(struct programmer *programmer, uint8_t bus);

	/**
	 * Makes one chip-select cycle: sends `tx_bytes`, then receives `rx_bytes`, both within the
	 * programmer's limits. NULL without BUS_SPI.
	 */
	int (*spi_command)(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
		uint8_t *rx, size_t rx_bytes);

	/**
	 * Makes a cycle that only sends. It may be held back until the next spi_command, which then
	 * follows without a pause. NULL: spi_command is as fast.
	 */
	int (*spi_hold)(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes);

	/**
	 * Memory cycles, for a part on one of BUSES_MEMORY. Addresses have 24 bits; the part's last
	 * byte is at 0xffffff. Writes may be held back until flush() or the next read. NULL without
	 * such a bus.
	 */
	int (*read_bytes)(
		struct programmer *programmer, uint32_t address, uint8_t *data, size_t bytes);
	int (*write_byte)(struct programmer *programmer, uint32_t address, uint8_t value);
	int (*flush)(struct programmer *programmer);

	/** Releases the bus and frees the programmer. */
	void (*destroy)(struct programmer *programmer);
};

/** The flash drivers' view of a programmer; a driver embeds this as its first member. */
struct programmer {
	const char *name;
	const struct programmer_ops *ops;
	uint8_t buses;
	/* The limits of one SPI command; read_bytes_max is also that of read_bytes(), never 0. */
	size_t write_bytes_max;
	size_t read_bytes_max;
	/*
	 * Memory cycles: the number of neighbouring bytes that reach the part without a pause, if
	 * they follow a flush and at most three other writes. 0: any number.
	 */
	size_t burst_bytes_max;
	/* Memory cycles: the largest part that can be reached whole. 0: any. */
	uint32_t size_bytes_max;
	/*
	 * The time at which the programmer turned its pins on, which may supply the part. It is on
	 * the clock that programmer_open() got. 0: long ago.
	 */
	uint64_t powered_ns;
};

/** A kind of programmer, as named before the colon of `-p NAME:KEY=VALUE,...`. */
struct programmer_driver {
	const char *name;
	const char *usage;
	/**
	 * Opens it. `params` is the text after the colon, or "", which it may change but not keep.
	 * Returns 0, -ENOMEM, or another -errno (logged).
	 */
	int (*open)(char *params, const struct clock *clock, const struct log *log,
		struct programmer **out);
};

/** All drivers, ended by NULL. */
extern const struct programmer_driver *const programmer_drivers[];

/** Opens the programmer of `spec` ("serprog:ip=localhost:2000"). Returns 0 or -errno (logged). */
int programmer_open(const char *spec, const struct clock *clock, const struct log *log,
	struct programmer **out);

/** Closes a programmer, or NULL. */
void programmer_destroy(struct programmer *programmer);

/** A key that a programmer accepts after `-p NAME:`, and the variable for its value. */
struct param {
	const char *key;
	const char **value; /* stays as it is if the key is not given */
};

/**
 * Splits "key=value,key=value" in place. `params` ends with a NULL key, `programmer` is for
 * messages. Returns 0, or -EINVAL (unknown key, no value, given twice) with the cause logged.
 */
int params_parse(
	char *text, const char *programmer, const struct param *params, const struct log *log);

#endif
