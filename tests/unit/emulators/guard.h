/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties that hold for every sequence of commands. A guard watches one chip from outside, by
 * the facts of each command or cycle and by the content of the array:
 *
 *   - bytes change only in the range of a work that began in time, enabled and unprotected, and
 *     only when the time of this work is over or it was cut off;
 *   - a program sets no bit, unless the part erases first; an erase leaves FFh;
 *   - a busy time never shrinks, unless a reset, a suspend or a loss of power ends it;
 *   - a command that broke a rule starts no work and changes no byte;
 *   - a reply is written in full, and no byte beyond it.
 *
 * The first property that fails ends the program, with its name and the command that repeats it.
 */
#ifndef TESTS_UNIT_EMULATORS_GUARD_H
#define TESTS_UNIT_EMULATORS_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/chip.h"

#define GUARD_WORKS_MAX 64 /* more than are begun while an erase is suspended */
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
	bool open;     /* still to be done, or just cut off */
};

/* The chip's state before the command. */
struct guard_moment {
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
	unsigned int step; /* for the message; the client sets it */
	uint64_t now_ns;
	uint8_t opcode; /* the last command's, like the fields below */
	struct chip_facts facts;
	struct guard_moment before;
	struct guard_span works[GUARD_WORKS_MAX]; /* a ring of the last ones */
	size_t work_count;
	uint8_t *touched; /* granules that some work covered, a byte each */
	uint8_t content[GUARD_WINDOW_COUNT][GUARD_WINDOW_BYTES]; /* before the command */
	uint8_t reply[GUARD_REPLY_BYTES_MAX + 1];
	size_t reply_len;
};

/* @chip must be new: erased and ready. The guard adds to @counts. */
void guard_init(
	struct guard *guard, const struct chip *chip, uint64_t seed, struct guard_counts *counts);
void guard_deinit(struct guard *guard);

/* Where a window begins; they are the first bytes of a part, those in its middle and the last. */
uint32_t guard_window_address(const struct part *part, size_t index);

/* Room for a reply of @len bytes, GUARD_REPLY_BYTES_MAX at most, and nothing behind it. */
uint8_t *guard_reply(struct guard *guard, size_t len);

/* To be called right before each command or cycle, which begins at @now_ns. */
void guard_before(struct guard *guard, uint64_t now_ns);

/*
 * And right after it. @opcode is the first byte that the chip was sent, 0 for a read on a bus of
 * cycles. What ended until @now_ns may have changed bytes: the beginning of a command or a write,
 * the end of reads.
 */
void guard_after(
	struct guard *guard, uint8_t opcode, const struct chip_facts *facts, uint64_t now_ns);

/* After the last one: nothing was ever put where no work was, in the windows or elsewhere. */
void guard_check_untouched(const struct guard *guard);

#endif
