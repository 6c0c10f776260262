/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROGRAMMER_H
#define PROGRAMMER_H

#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "log.h"

struct programmer;

struct programmer_ops {
	/**
	 * One chip-select cycle: send `tx_bytes`, then receive `rx_bytes`. Sizes stay within the
	 * programmer's limits. Returns 0, or a negative errno after having logged the cause.
	 */
	int (*spi_command)(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
		uint8_t *rx, size_t rx_bytes);
	/** Let go of the bus and free the programmer. */
	void (*destroy)(struct programmer *programmer);
};

/** What the flash drivers see of a programmer; a driver embeds this as its first member. */
struct programmer {
	const char *name;
	const struct programmer_ops *ops;
	size_t write_bytes_max;
	size_t read_bytes_max;
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
