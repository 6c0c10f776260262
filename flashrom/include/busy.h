/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BUSY_H
#define BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "busy_history.h"

struct flash;

/** Kinds of operations of one part whose past lengths are remembered. */
#define BUSY_OPERATIONS_MAX 8

/** Ask the part whether it is ready. 0, or a negative errno with the cause logged. */
typedef int (*busy_ask_fn)(struct flash *flash, uint32_t address, bool *ready);

/**
 * Wait for the end of the operation that was begun just now; `what` names it in messages ("an
 * erase"), `address` is handed to `ask`.
 *
 * When the first question comes depends on what such operations took of late (busy_history.h), and
 * is half the typical time when nothing is known of them; then there is one every busy_poll_us()
 * until the part is ready. Operations are told apart by the address of `busy`. 0, -ETIMEDOUT
 * (logged) after busy_timeout_ns(), or what `ask` returned.
 */
int busy_wait(struct flash *flash, const struct busy_time *busy, const char *what, busy_ask_fn ask,
	uint32_t address);

/** Time between two questions: a fraction of the typical time, 0 where that is too short for it. */
uint32_t busy_poll_us(uint32_t typ_us);

/** When an operation counts as never going to end. */
uint64_t busy_timeout_ns(const struct busy_time *busy);

#endif
