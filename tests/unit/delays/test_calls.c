/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../run_cases.h"
#include "delay_plugin/record.h"

#define FUNCTION 0
#define OTHER_FUNCTION 1
#define SITE UINT64_C(0x401234)
#define OTHER_SITE UINT64_C(0x401300)
#define NUMBERS_MAX 8

FIXTURE(calls, NOTHING, NOTHING);

static const struct place place = {.space = 0x1000, .thread = 0x7f00, .sp = 0x7ffe0};

static uint64_t begin_call(
	struct calls *calls, struct place at, unsigned int function, uint64_t site)
{
	struct calls_entered entered;

	assert_int_equal(calls_enter(calls, &at, function, site, &entered), 0);
	calls_begin(calls, entered.number);
	return entered.number;
}

static uint64_t return_from(struct calls *calls, struct place at, unsigned int function)
{
	return calls_return(calls, &at, function);
}

static struct place deeper(uint64_t bytes)
{
	struct place result = place;

	result.sp -= bytes;
	return result;
}

TEST_ON(calls, call_ends_at_a_return_with_the_same_stack_pointer)
{
	uint64_t number;

	number = begin_call(calls, place, FUNCTION, SITE);
	assert_int_equal(return_from(calls, deeper(8), FUNCTION), 0);
	assert_int_equal(return_from(calls, place, FUNCTION), number);
	assert_int_equal(return_from(calls, place, FUNCTION), 0);
}

TEST_ON(calls, nested_calls_end_one_by_one)
{
	uint64_t outer, inner;

	outer = begin_call(calls, place, FUNCTION, SITE);
	inner = begin_call(calls, deeper(256), FUNCTION, SITE);
	assert_int_equal(return_from(calls, deeper(256), FUNCTION), inner);
	assert_int_equal(return_from(calls, place, FUNCTION), outer);
}

TEST_ON(calls, same_stack_pointer_in_another_thread_or_process_is_another_call)
{
	struct place thread = place, process = place;
	uint64_t numbers[3];

	thread.thread++;
	process.space++;
	numbers[0] = begin_call(calls, place, FUNCTION, SITE);
	numbers[1] = begin_call(calls, thread, FUNCTION, SITE);
	numbers[2] = begin_call(calls, process, FUNCTION, SITE);
	assert_int_equal(return_from(calls, process, FUNCTION), numbers[2]);
	assert_int_equal(return_from(calls, place, FUNCTION), numbers[0]);
	assert_int_equal(return_from(calls, thread, FUNCTION), numbers[1]);
}

TEST_ON(calls, site_ends_a_tail_call_and_its_caller_innermost_first)
{
	uint64_t numbers[NUMBERS_MAX], outer, inner;

	outer = begin_call(calls, place, FUNCTION, SITE);
	inner = begin_call(calls, place, OTHER_FUNCTION, SITE);
	assert_int_equal(calls_arrive(calls, &place, SITE, numbers, NUMBERS_MAX), 2);
	assert_int_equal(numbers[0], inner);
	assert_int_equal(numbers[1], outer);
}

TEST_ON(calls, return_from_a_tail_call_leaves_its_caller_open)
{
	uint64_t numbers[NUMBERS_MAX], outer, inner;

	outer = begin_call(calls, place, FUNCTION, SITE);
	inner = begin_call(calls, place, OTHER_FUNCTION, SITE);
	assert_int_equal(return_from(calls, place, OTHER_FUNCTION), inner);
	assert_int_equal(calls_arrive(calls, &place, SITE, numbers, NUMBERS_MAX), 1);
	assert_int_equal(numbers[0], outer);
}

TEST_ON(calls, other_site_or_other_stack_pointer_ends_no_call)
{
	uint64_t numbers[NUMBERS_MAX];
	struct place above = place;

	above.sp += 8;
	begin_call(calls, place, FUNCTION, SITE);
	assert_int_equal(calls_arrive(calls, &place, OTHER_SITE, numbers, NUMBERS_MAX), 0);
	assert_int_equal(calls_arrive(calls, &above, SITE, numbers, NUMBERS_MAX), 0);
	assert_int_equal(calls->count, 1);
}

TEST_ON(calls, call_that_longjmp_left_is_abandoned_when_another_has_its_place)
{
	struct calls_entered second;
	uint64_t first;

	first = begin_call(calls, place, FUNCTION, SITE);
	assert_int_equal(calls_enter(calls, &place, FUNCTION, SITE, &second), 0);
	assert_int_equal(second.abandoned, first);
	assert_int_equal(return_from(calls, place, FUNCTION), second.number);
	assert_int_equal(return_from(calls, place, FUNCTION), 0);
}

TEST_ON(calls, first_instruction_that_a_page_fault_repeats_begins_no_second_call)
{
	struct calls_entered first, second;

	calls_enter(calls, &place, FUNCTION, SITE, &first);
	calls_enter(calls, &place, FUNCTION, SITE, &second);
	assert_int_equal(second.number, first.number);
	assert_int_equal(second.abandoned, 0);
	assert_int_equal(calls->count, 1);
}

TEST_ON(calls, call_without_room_is_counted_and_open_calls_still_end)
{
	struct calls_entered last;
	struct place far;

	for (unsigned int i = 0; i < CALLS_OPEN_MAX; i++)
		begin_call(calls, deeper(i * UINT64_C(16)), FUNCTION, SITE);
	far = deeper(CALLS_OPEN_MAX * UINT64_C(16));
	assert_int_equal(calls_enter(calls, &far, FUNCTION, SITE, &last), -ENOSPC);
	assert_int_equal(calls->lost, 1);
	assert_int_equal(return_from(calls, place, FUNCTION), 1);
}

TEST_ON(calls, call_whose_site_has_no_room_is_counted)
{
	for (unsigned int i = 0; i < CALLS_SITES_MAX; i++)
		assert_int_equal(calls_add_site(calls, SITE + i), 0);
	assert_int_equal(calls_add_site(calls, SITE), 0);
	assert_int_equal(calls->lost, 0);
	assert_int_equal(calls_add_site(calls, SITE - 1), -ENOSPC);
	assert_int_equal(calls->lost, 1);
	assert_true(calls_has_site(calls, SITE + CALLS_SITES_MAX - 1));
	assert_false(calls_has_site(calls, SITE - 1));
}

/* Stacks of callers. */

#define BASE UINT64_C(0x555500000000)
#define TEXT_BEGIN 0x1000
#define TEXT_END 0x9000

FIXTURE(stacks, NOTHING, NOTHING);

static struct stack stack_of(uint64_t first, uint64_t second, uint64_t third)
{
	return (struct stack){
		.base = BASE, .sp = 0x7ffe00, .word_count = 3, .words = {first, second, third}};
}

static unsigned int number_of(struct stacks *stacks, struct stack stack, bool *is_new)
{
	return stacks_number(stacks, &stack, TEXT_BEGIN, TEXT_END, is_new);
}

TEST_ON(stacks, stacks_with_the_same_callers_have_the_same_number)
{
	bool is_new;

	assert_int_equal(number_of(stacks, stack_of(BASE + 0x1234, 7, BASE + 0x2000), &is_new), 1);
	assert_true(is_new);
	assert_int_equal(number_of(stacks, stack_of(BASE + 0x1234, 99, BASE + 0x2000), &is_new), 1);
	assert_false(is_new);
}

TEST_ON(stacks, stacks_with_other_callers_or_order_have_other_numbers)
{
	bool is_new;

	number_of(stacks, stack_of(BASE + 0x1234, 7, BASE + 0x2000), &is_new);
	assert_int_equal(number_of(stacks, stack_of(BASE + 0x1234, 7, BASE + 0x2008), &is_new), 2);
	assert_true(is_new);
	assert_int_equal(number_of(stacks, stack_of(BASE + 0x1234, BASE + 0x2000, 7), &is_new), 3);
}

TEST_ON(stacks, load_address_of_the_file_does_not_change_the_number)
{
	struct stack moved = stack_of(2 * BASE + 0x1234, 7, 2 * BASE + 0x2000);
	bool is_new;

	moved.base = 2 * BASE;
	number_of(stacks, stack_of(BASE + 0x1234, 7, BASE + 0x2000), &is_new);
	assert_int_equal(number_of(stacks, moved, &is_new), 1);
}

TEST_ON(stacks, stack_without_room_has_no_number)
{
	bool is_new;

	for (unsigned int i = 0; i < STACKS_MAX; i++)
		number_of(stacks, stack_of(BASE + TEXT_BEGIN + i, 0, 0), &is_new);
	assert_int_equal(
		number_of(stacks, stack_of(BASE + TEXT_BEGIN + STACKS_MAX, 0, 0), &is_new), 0);
	assert_false(is_new);
}

TEST(pushed_return_address_is_on_top)
{
	struct stack stack = stack_of(1, 2, 3);

	stack_push(&stack, 8, 99);
	assert_int_equal(stack.sp, 0x7ffdf8);
	assert_int_equal(stack.word_count, 4);
	assert_int_equal(stack.words[0], 99);
	assert_int_equal(stack.words[3], 3);
}

TEST(push_on_a_full_stack_drops_the_farthest_word)
{
	struct stack stack = {.sp = 0x7ffe00, .word_count = STACK_WORDS_MAX, .words = {7}};

	stack_push(&stack, 4, 99);
	assert_int_equal(stack.sp, 0x7ffdfc);
	assert_int_equal(stack.word_count, STACK_WORDS_MAX);
	assert_int_equal(stack.words[1], 7);
}
