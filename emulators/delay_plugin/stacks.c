/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stacks.h"

#include <string.h>

/* FNV-1a of 64 bits, over whole words. */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)
#define HASH_FACTOR UINT64_C(0x100000001b3)

void stack_push(struct stack *stack, size_t word_bytes, uint64_t site)
{
	if (stack->word_count < STACK_WORDS_MAX)
		stack->word_count++;
	memmove(&stack->words[1], stack->words, (stack->word_count - 1) * sizeof(stack->words[0]));
	stack->words[0] = site;
	stack->sp -= word_bytes;
}

void stacks_init(struct stacks *stacks)
{
	stacks->count = 0;
}

static uint64_t mixed(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * HASH_FACTOR;
	return hash ^ hash >> 32;
}

static uint64_t key_of(const struct stack *stack, uint64_t text_begin, uint64_t text_end)
{
	uint64_t hash = mixed(HASH_BEGIN, stack->function);

	hash = mixed(hash, stack->lr ? stack->lr - stack->base : 0);
	for (size_t i = 0; i < stack->word_count; i++) {
		uint64_t address = stack->words[i] - stack->base;

		if (address >= text_begin && address < text_end)
			hash = mixed(mixed(hash, i), address);
	}
	return hash;
}

unsigned int stacks_number(struct stacks *stacks, const struct stack *stack, uint64_t text_begin,
	uint64_t text_end, bool *is_new)
{
	uint64_t key = key_of(stack, text_begin, text_end);

	*is_new = false;
	for (size_t i = stacks->count; i-- > 0;) {
		if (stacks->keys[i] == key)
			return (unsigned int)i + 1;
	}
	if (stacks->count == STACKS_MAX)
		return 0;
	*is_new = true;
	stacks->keys[stacks->count++] = key;
	return (unsigned int)stacks->count;
}
