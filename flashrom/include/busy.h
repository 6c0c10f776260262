/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BUSY_H
#define BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "chip.h"

struct flash;

/** Operations of one part whose past lengths are remembered, and how many lengths of each. */
#define BUSY_OPERATIONS_MAX 8
#define BUSY_LENGTHS_MAX 8

/** What operations of a kind lately took, from the command's end to the first ready answer. */
struct busy_history {
	const struct busy_time *of; /* NULL: not in use */
	uint32_t length_us[BUSY_LENGTHS_MAX];
	unsigned int count; /* of all lengths there ever were; the newest are kept */
};

/** Ask the part whether it is ready. 0, or a negative errno with the cause logged. */
typedef int (*busy_ask_fn)(struct flash *flash, uint32_t address, bool *ready);

/**
 * Wait for the end of the operation that was begun just now; `what` names it in messages ("an
 * erase"), `address` is handed to `ask`.
 *
 * The first question comes after most of what such an operation took of late, half its typical time
 * when nothing is known of it; then one every busy_poll_us() until the part is ready. Operations
 * are told apart by the address of `busy`. 0, -ETIMEDOUT (logged) after busy_timeout_ns(), or what
 * `ask` returned.
 */
int busy_wait(struct flash *flash, const struct busy_time *busy, const char *what, busy_ask_fn ask,
	uint32_t address);

/** Time between two questions: a fraction of the typical time, 0 where that is too short for it. */
uint32_t busy_poll_us(uint32_t typ_us);

/** When an operation counts as never going to end. */
uint64_t busy_timeout_ns(const struct busy_time *busy);

#endif
