/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the plugin tells the rig, a JSON line for each. Pure: into a buffer of RECORD_BYTES_MAX.
 * Each returns how many bytes the line has. Read by rig/delayrig/witness/delay_record.py.
 */
#ifndef EMULATORS_DELAYS_RECORD_H
#define EMULATORS_DELAYS_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "place.h"
#include "stacks.h"

#define RECORD_SCHEMA 1
#define RECORD_BYTES_MAX 4096

/* When something happened: QEMU counts the instructions of a block before it runs them. */
struct moment {
	int64_t t_ns;
	uint64_t late_insns; /* counted already, and not run yet */
	unsigned int cpu;
};

struct entry {
	uint64_t call;
	unsigned int function;
	uint64_t asked; /* in the function's own unit */
	struct place place;
	unsigned int stack; /* its number; 0: unknown */
};

size_t record_start(char *line);
size_t record_stack(char *line, unsigned int number, const struct stack *stack);
size_t record_enter(char *line, const struct moment *moment, const struct entry *entry);

/* @by: "return" or "site". */
size_t record_leave(char *line, const struct moment *moment, uint64_t call, const char *by);

/* The call was left in a way that nobody saw: another one has its place. */
size_t record_abandon(char *line, uint64_t call);

/* How many calls there was no room for. */
size_t record_lost(char *line, uint64_t calls);

#endif
