/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks seen so far: most calls come from a few places, and a stack is long. Two stacks are
 * the same if the words that may be return addresses are. Pure.
 */
#ifndef EMULATORS_DELAYS_STACKS_H
#define EMULATORS_DELAYS_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACKS_MAX 4096
#define STACK_WORDS_MAX 128

struct stack {
	unsigned int function;
	uint64_t base; /* where the file of the function lies: what its addresses count from */
	uint64_t sp, fp, lr;
	size_t word_count;
	uint64_t words[STACK_WORDS_MAX]; /* from sp up */
};

struct stacks {
	size_t count;
	uint64_t keys[STACKS_MAX];
};

/* As the called function finds it: @site, where it returns to, is on top. */
void stack_push(struct stack *stack, size_t word_bytes, uint64_t site);

void stacks_init(struct stacks *stacks);

/*
 * Its number, from 1; 0: there are too many. @is_new: nobody has seen it before. Words between
 * @text_begin and @text_end, above its base, may be return addresses.
 */
unsigned int stacks_number(struct stacks *stacks, const struct stack *stack, uint64_t text_begin,
	uint64_t text_end, bool *is_new);

#endif
