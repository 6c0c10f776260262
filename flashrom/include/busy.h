/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BUSY_H
#define BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "busy_history.h"

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
