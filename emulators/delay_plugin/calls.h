/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that have begun and not ended, and which of them an end belongs to. Pure.
 *
 * A call ends where its place on the stack is the same again: at a return instruction of its
 * function, or at its site, which is the address that it returns to. What leaves a function
 * otherwise (longjmp) ends nothing: its call stays open, until another one of the same function
 * takes its place.
 */
#ifndef EMULATORS_DELAYS_CALLS_H
#define EMULATORS_DELAYS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLS_OPEN_MAX 256

/*
 * The identity of a call of a thread: its place on a stack. No two open calls share it, except a
 * function and one that it ends in by a jump.
 */
struct place {
	uint64_t space;  /* the register that says whose memory it is: a process */
	uint64_t thread; /* the register that threads keep their own variables by */
	uint64_t sp;     /* at the first instruction, and again at the return instruction */
};

static inline bool place_equal(const struct place *one, const struct place *other)
{
	return one->space == other->space && one->thread == other->thread && one->sp == other->sp;
}

struct call {
	struct place place;
	uint64_t site;
	unsigned int function;
	uint64_t number; /* from 1 */
	bool has_begun;  /* its first instruction is over; until then a page fault may repeat it */
};

struct calls {
	size_t count;
	struct call open[CALLS_OPEN_MAX];
	uint64_t last_number;
	uint64_t lost; /* calls for which there was no room */
};

struct calls_entered {
	uint64_t number;    /* the number of this call; a repeated first instruction keeps it */
	uint64_t abandoned; /* the number of the call whose place it took; 0: none */
};

void calls_init(struct calls *calls);

/* -ENOSPC: there is no room for it, which is counted. */
int calls_enter(struct calls *calls, const struct place *place, unsigned int function,
	uint64_t site, struct calls_entered *entered);

/* The first instruction of that call is over. */
void calls_begin(struct calls *calls, uint64_t number);

/* Numbers of those that end at a return of @function; at most @max. */
size_t calls_return(struct calls *calls, const struct place *place, unsigned int function,
	uint64_t *numbers, size_t max);

/* Numbers of those that end at that site, innermost first; at most @max. */
size_t calls_arrive(struct calls *calls, const struct place *place, uint64_t site,
	uint64_t *numbers, size_t max);

#endif
