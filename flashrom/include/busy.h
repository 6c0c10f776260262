/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BUSY_H
#define BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "chip.h"

#define BUSY_LENGTHS_MAX 8

/** The duration of an operation, as far as queries could tell. */
struct busy_length {
	uint32_t above_us; /* when it was last seen busy, 0 if it never was */
	uint32_t below_us; /* when it was first seen ready */
};

/** The recent durations of operations of one kind. Starts as {0}, and belongs to one part. */
struct busy_history {
	const struct busy_time *of; /* NULL: not in use */
	struct busy_length lengths[BUSY_LENGTHS_MAX];
	unsigned int count;      /* the number of all lengths so far; the newest are kept */
	uint32_t lead_us;        /* from the end of the last wait to its first query */
	unsigned int never_busy; /* operations in a row that were ready at the first query */
};

/**
 * Returns the wait before the first query: half the typical time while no length is known, at most
 * 7/8 of it while fewer than BUSY_LENGTHS_MAX are known, and at most `of->max_us` later.
 *
 * Each length is an interval. While they have a point in common, the part is considered steady: the
 * interval is halved until the query comes just after the part gets ready. Otherwise lengths vary,
 * and the wait is 7/8 of the shortest, so that queries find the end.
 */
uint32_t busy_history_wait_us(const struct busy_history *history);

/** Adds a length. The first query followed a wait of `waited_us`, at `first_asked_us`. */
void busy_history_add(struct busy_history *history, struct busy_length length, uint32_t waited_us,
	uint32_t first_asked_us);

struct flash;

/** The number of kinds of operations of one part whose past durations are kept. */
#define BUSY_OPERATIONS_MAX 8

/** Asks the part whether it is ready. Returns 0, or -errno with the cause logged. */
typedef int (*busy_ask_fn)(struct flash *flash, uint32_t address, bool *ready);

/**
 * Waits for the end of the operation that has just begun. `what` names it in messages ("an
 * erase"), `address` is passed to `ask`.
 *
 * The first query comes after busy_history_wait_us(), the next ones every busy_poll_us() until the
 * part is ready. The address of `busy` identifies the kind of operation. Returns 0, -ETIMEDOUT
 * (logged) after busy_timeout_ns(), or the error of `ask` or of the programmer.
 */
int busy_wait(struct flash *flash, const struct busy_time *busy, const char *what, busy_ask_fn ask,
	uint32_t address);

/** Returns the time between two queries: a fraction of the typical time, or 0 if it is short. */
uint32_t busy_poll_us(uint32_t typ_us);

/** Returns the time after which an operation is given up. */
uint64_t busy_timeout_ns(const struct busy_time *busy);

#endif
