/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open calls, which have begun and not ended, and the stacks that they came from. Finds the
 * calls that end at an instruction. Pure.
 *
 * A call ends at a return instruction of its function, or at its site, which is the address that
 * it returns to, if its place on the stack is the same as when it began. longjmp() ends no call:
 * a call that it leaves stays open until another call of the same function has the same place.
 */
#ifndef EMULATORS_DELAYS_CALLS_H
#define EMULATORS_DELAYS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLS_OPEN_MAX 256

/*
 * The identity of a call: its process, its thread and its place on the stack. Two open calls share
 * it only if one is a tail call of the other.
 */
struct place {
	uint64_t space;  /* the process: the register of the page table, such as CR3 */
	uint64_t thread; /* the thread: the register of its own variables, such as FS base */
	uint64_t sp;     /* the same at the first instruction and at the return instruction */
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
	bool has_begun;  /* the first instruction is done; until then a page fault may repeat it */
};

struct calls {
	size_t count;
	struct call open[CALLS_OPEN_MAX];
	uint64_t last_number;
	uint64_t lost; /* calls for which there was no room */
};

struct calls_entered {
	uint64_t number;    /* the number of this call; a repeated first instruction keeps it */
	uint64_t abandoned; /* the number of an open call that had the same place; 0: none */
};

void calls_init(struct calls *calls);

/* Adds an open call. Returns -ENOSPC, and counts the call as lost, if there is no room. */
int calls_enter(struct calls *calls, const struct place *place, unsigned int function,
	uint64_t site, struct calls_entered *entered);

/* Notes that the first instruction of that call is done. */
void calls_begin(struct calls *calls, uint64_t number);

/* Returns the number of the call that ends at a return of @function; 0: none. */
uint64_t calls_return(struct calls *calls, const struct place *place, unsigned int function);

/* Returns how many calls end at that site, at most @max, with their @numbers, innermost first. */
size_t calls_arrive(struct calls *calls, const struct place *place, uint64_t site,
	uint64_t *numbers, size_t max);

/*
 * The stacks seen so far. A stack is recorded once: it is long, and most calls come from a few
 * places. Two stacks are the same if their words that may be return addresses are the same.
 */
#define STACKS_MAX 4096
#define STACK_WORDS_MAX 128

struct stack {
	unsigned int function;
	uint64_t base; /* the load address of the function's file */
	uint64_t sp, fp, lr;
	size_t word_count;
	uint64_t words[STACK_WORDS_MAX]; /* from sp up */
};

struct stacks {
	size_t count;
	uint64_t keys[STACKS_MAX];
};

/* Pushes the return address @site, as a call instruction does. */
void stack_push(struct stack *stack, size_t word_bytes, uint64_t site);

void stacks_init(struct stacks *stacks);

/*
 * Returns the number of the stack, from 1, or 0 if there are too many. Sets @is_new if it was not
 * seen before. Words from base + @text_begin to base + @text_end may be return addresses.
 */
unsigned int stacks_number(struct stacks *stacks, const struct stack *stack, uint64_t text_begin,
	uint64_t text_end, bool *is_new);

#endif
