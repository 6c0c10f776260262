/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record.h"

#include <errno.h>
#include <string.h>

static struct call *find(struct calls *calls, const struct place *place, unsigned int function)
{
	for (size_t i = 0; i < calls->count; i++) {
		if (calls->open[i].function == function &&
			place_equal(&calls->open[i].place, place))
			return &calls->open[i];
	}
	return NULL;
}

/* Removes the call, keeps the others in the order in which they began, and returns its number. */
static uint64_t remove_call(struct calls *calls, struct call *call)
{
	uint64_t number = call->number;
	size_t after = (size_t)(&calls->open[calls->count] - call) - 1;

	memmove(call, call + 1, after * sizeof(*call));
	calls->count--;
	return number;
}

bool calls_has_site(const struct calls *calls, uint64_t site)
{
	for (size_t i = 0; i < calls->site_count; i++) {
		if (calls->sites[i] == site)
			return true;
	}
	return false;
}

int calls_add_site(struct calls *calls, uint64_t site)
{
	if (calls_has_site(calls, site))
		return 0;
	if (calls->site_count == CALLS_SITES_MAX) {
		calls->lost++;
		return -ENOSPC;
	}
	calls->sites[calls->site_count++] = site;
	return 0;
}

int calls_enter(struct calls *calls, const struct place *place, unsigned int function,
	uint64_t site, struct calls_entered *entered)
{
	struct call *known = find(calls, place, function);

	*entered = (struct calls_entered){0};
	if (known && !known->has_begun && known->site == site) {
		entered->number = known->number;
		return 0;
	}
	if (known)
		entered->abandoned = remove_call(calls, known);
	if (calls->count == CALLS_OPEN_MAX) {
		calls->lost++;
		return -ENOSPC;
	}
	entered->number = ++calls->last_number;
	calls->open[calls->count++] = (struct call){
		.place = *place,
		.site = site,
		.function = function,
		.number = entered->number,
	};
	return 0;
}

void calls_begin(struct calls *calls, uint64_t number)
{
	for (size_t i = calls->count; i-- > 0;) {
		if (calls->open[i].number == number)
			calls->open[i].has_begun = true;
	}
}

uint64_t calls_return(struct calls *calls, const struct place *place, unsigned int function)
{
	struct call *known = find(calls, place, function);

	return known ? remove_call(calls, known) : 0;
}

size_t calls_arrive(struct calls *calls, const struct place *place, uint64_t site,
	uint64_t *numbers, size_t max)
{
	size_t count = 0;

	for (size_t i = calls->count; i-- > 0 && count < max;) {
		struct call *call = &calls->open[i];

		if (call->site == site && place_equal(&call->place, place))
			numbers[count++] = remove_call(calls, call);
	}
	return count;
}

/* The constants of 64-bit FNV-1a. mixed() takes words, not bytes, so it also mixes the halves. */
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
