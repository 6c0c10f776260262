/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What no sequence of commands may break. A guard watches one chip from outside, by the facts of
 * each command or cycle and by what the array holds:
 *
 *   - bytes change only inside what a work covers that was begun in time, enabled and unprotected,
 *     and only when its time is over or it was cut off;
 *   - a program sets no bit, unless the part erases first; an erase leaves FFh;
 *   - a busy time never shrinks, unless a reset, a suspend or a loss of power ends it;
 *   - a command that broke a rule begins nothing and changes nothing;
 *   - every reply is written to its end and no further.
 *
 * The first that does not hold ends the program, which says what it was and how to see it again.
 */
#ifndef TESTS_UNIT_EMULATORS_GUARD_H
#define TESTS_UNIT_EMULATORS_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/chip.h"

#define GUARD_WORKS_MAX 64 /* more than are begun while an erase is suspended */
#define GUARD_REPLY_BYTES_MAX 300

/* What is compared after each command: where the addresses of all commands should lie. */
#define GUARD_WINDOW_BYTES 1024
#define GUARD_WINDOW_COUNT 3

/* What a work may change. */
struct guard_span {
	uint32_t address;
	uint32_t size_bytes;
	enum chip_work work;
	bool replaces; /* a program that erases first */
	bool open;     /* still to be done, or just cut off */
};

/* How it was before the command. */
struct guard_moment {
	uint64_t busy_until_ns;
	uint64_t busy_since_ns;
	bool busy;
	bool enabled;
};

/* What was seen; where one of them stays 0, its checks have had nothing to look at. */
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
	uint64_t seed;     /* for its message alone */
	unsigned int step; /* the same; kept by who drives the chip */
	uint64_t now_ns;
	uint8_t opcode; /* of the last command, as the next ones */
	struct chip_facts facts;
	struct guard_moment before;
	struct guard_span works[GUARD_WORKS_MAX]; /* a ring of the last ones */
	size_t work_count;
	uint8_t *touched; /* granules that some work covered, a byte each */
	uint8_t content[GUARD_WINDOW_COUNT][GUARD_WINDOW_BYTES]; /* before the command */
	uint8_t reply[GUARD_REPLY_BYTES_MAX + 1];
	size_t reply_len;
};

/* @chip has just begun: it is erased and ready. What is seen is added to @counts. */
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
