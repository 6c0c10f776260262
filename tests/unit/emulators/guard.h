/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties that hold for every sequence of commands. A guard watches one chip from outside, by
 * the facts of each command or cycle and by the content of the array:
 *
 *   - bytes change only in the range of a work that began in time, enabled and unprotected, and
 *     only when the time of this work is over or it was cut off;
 *   - a program sets no bit, unless the part erases first; a completed erase leaves FFh;
 *   - a busy time never shrinks, unless a reset, a suspend or a loss of power ends it, or the part
 *     forgets an erase that another command follows too soon;
 *   - a command that broke a rule starts no work;
 *   - no byte beyond a reply is written. A second guard with another fill shows whether each byte
 *     of the reply is written: both must see the same replies.
 *
 * The first property that fails ends the program. It prints the property and the command that
 * repeats the failure.
 */
#ifndef TESTS_UNIT_EMULATORS_GUARD_H
#define TESTS_UNIT_EMULATORS_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/chip.h"

#define GUARD_WORKS_MAX 64 /* more than begin before a suspended erase is resumed */
#define GUARD_REPLY_BYTES_MAX 300

/* The bytes that are compared after each command. Most commands address them. */
#define GUARD_WINDOW_BYTES 1024
#define GUARD_WINDOW_COUNT 3

/* The bytes that a work may change. */
struct guard_span {
	uint32_t address;
	uint32_t size_bytes;
	enum chip_work work;
	bool replaces; /* a program that erases first */
	bool open;     /* still to be done, or cut off by this command */
};

/* The chip's state before the command. */
struct guard_state {
	uint64_t busy_until_ns;
	uint64_t busy_since_ns;
	bool busy;
	bool enabled;
};

/* The number of each thing that the guard saw. If one stays 0, its checks never ran. */
struct guard_counts {
	uint64_t steps; /* commands and cycles */
	uint64_t works;
	uint64_t resumes;
	uint64_t changes;
	uint64_t violations;
	uint64_t power_cuts;
};

struct guard {
	const struct chip *chip;
	struct guard_counts *counts;
	uint64_t seed;     /* for the message of a failure */
	unsigned int step; /* for the message; the caller sets it */
	uint64_t now_ns;
	uint8_t opcode; /* the last command's, like the fields below */
	struct chip_facts facts;
	struct guard_state before;
	struct guard_span works[GUARD_WORKS_MAX]; /* a ring of the last works */
	size_t work_count;
	uint8_t *touched; /* a byte for each granule that a work has covered */
	uint8_t content[GUARD_WINDOW_COUNT][GUARD_WINDOW_BYTES]; /* before the command */
	uint8_t reply[GUARD_REPLY_BYTES_MAX + 1];
	size_t reply_len;
	uint8_t fill;     /* each byte of a reply before the command */
	uint64_t replies; /* a digest of all replies */
};

/* @chip must be new: erased and ready. The guard adds to @counts. */
void guard_init(struct guard *guard, const struct chip *chip, uint64_t seed, uint8_t fill,
	struct guard_counts *counts);
void guard_deinit(struct guard *guard);

/* Returns the address of a window: 0 is at the part's beginning, 1 in its middle, 2 at its end. */
uint32_t guard_window_address(const struct part *part, size_t index);

/*
 * Returns room for a reply of @len bytes, GUARD_REPLY_BYTES_MAX at most, with a canary behind it.
 */
uint8_t *guard_reply(struct guard *guard, size_t len);

/* Records the state right before a command or cycle that begins at @now_ns. */
void guard_before(struct guard *guard, uint64_t now_ns);

/*
 * Checks the state right after it. @opcode is the first byte sent to the chip, 0 for a read on a
 * bus of cycles. Works that ended by @now_ns may have changed bytes: this is the end of a transfer
 * or a read, but the beginning of a write cycle.
 */
void guard_after(
	struct guard *guard, uint8_t opcode, const struct chip_facts *facts, uint64_t now_ns);

/*
 * Checks after the last command that works covered every granule that was written, in the windows
 * or elsewhere.
 */
void guard_check_untouched(const struct guard *guard);

#endif
