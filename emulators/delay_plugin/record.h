/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin's output to the rig, one JSON line for each event. Pure: each function writes into
 * @line and returns it. rig/delayrig/lanes/delay_record.py reads these lines.
 */
#ifndef EMULATORS_DELAYS_RECORD_H
#define EMULATORS_DELAYS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls.h"
#include "shared/json_line.h"

#define RECORD_SCHEMA 2

/* The time of an event. QEMU counts the instructions of a block before it runs them. */
struct moment {
	int64_t t_ns;
	uint64_t late_insns; /* instructions that t_ns includes, but that have not run yet */
	unsigned int cpu;
};

struct entry {
	uint64_t call;
	unsigned int function;
	uint64_t asked; /* in the function's own unit */
	struct place place;
	unsigned int stack; /* its number; 0: unknown */
};

#define RECORD_ARGUMENTS 5

/* More facts about a sleep. */
struct asking {
	bool is_known; /* true if the requested time could be read */
	uint64_t arguments[RECORD_ARGUMENTS];
};

const struct json_line *record_start(struct json_line *line);
const struct json_line *record_stack(
	struct json_line *line, unsigned int number, const struct stack *stack);
const struct json_line *record_enter(
	struct json_line *line, const struct moment *moment, const struct entry *entry);

/* Writes these facts about the sleep that was just entered. */
const struct json_line *record_asking(
	struct json_line *line, uint64_t call, const struct asking *asking);

/* @by is "return" or "site"; @result is the content of the result register. */
const struct json_line *record_leave(struct json_line *line, const struct moment *moment,
	uint64_t call, const char *by, uint64_t result);

/* The end of the call was not seen: another call has its place now. */
const struct json_line *record_abandon(struct json_line *line, uint64_t call);

/* Says that @calls calls were not recorded for lack of room; more, if the file is full. */
const struct json_line *record_lost(struct json_line *line, uint64_t calls);

#endif
