/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "asked.h"

#define NS_PER_S UINT64_C(1000000000)
#define TIME_MAX (UINT64_C(1) << 31) /* what is more was negative */

static uint64_t argument_at(
	struct registers *registers, unsigned int argument, const struct stack *stack)
{
	size_t word = machine_argument_word(registers->machine, argument);

	if (argument < MACHINE_ARGUMENTS_MAX && registers->arguments[argument])
		return registers_value(registers, registers->arguments[argument]);
	return word < stack->word_count ? stack->words[word] : 0;
}

static uint64_t argument_of(struct registers *registers, const struct wish_function *function,
	const struct stack *stack)
{
	unsigned int bits = function->argument_bits;
	uint64_t value = argument_at(registers, function->argument, stack);

	return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

/* Seconds and a part of one, as ns; false: it is not mapped, or is no time. */
static bool read_time(struct registers *registers, const struct wish_function *sleep,
	uint64_t address, uint64_t *ns)
{
	uint64_t seconds = 0, part = 0;

	if (!registers_memory(registers, address, &seconds, sleep->seconds_bytes) ||
		!registers_memory(
			registers, address + sleep->seconds_bytes, &part, sleep->part_bytes))
		return false;
	*ns = seconds * NS_PER_S + part * sleep->part_ns;
	return seconds < TIME_MAX && part < TIME_MAX;
}

static bool read_sleep(struct registers *registers, const struct wish_function *sleep,
	const struct stack *stack, uint64_t *asked, struct asking *asking)
{
	for (unsigned int i = 0; i < RECORD_ARGUMENTS; i++)
		asking->arguments[i] = argument_at(registers, i, stack);
	if (!sleep->seconds_bytes)
		return true;
	return read_time(registers, sleep, argument_at(registers, sleep->argument, stack), asked);
}

uint64_t asked_read(struct registers *registers, const struct wish_function *function,
	const struct stack *stack, struct asking *asking)
{
	uint64_t asked = argument_of(registers, function, stack);

	*asking = (struct asking){.is_known = true};
	if (function->is_sleep)
		asking->is_known = read_sleep(registers, function, stack, &asked, asking);
	return asking->is_known ? asked : 0;
}
