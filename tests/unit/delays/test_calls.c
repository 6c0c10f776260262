/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../cases.h"
#include "delay_plugin/record.h"

#define SHORT 0
#define LONG 1
#define SITE UINT64_C(0x401234)
#define OTHER_SITE UINT64_C(0x401300)
#define MAX 8

FIXTURE(calls, calls_init, NOTHING);

static const struct place place = {.space = 0x1000, .thread = 0x7f00, .sp = 0x7ffe0};

static uint64_t entered(struct calls *calls, struct place at, unsigned int function, uint64_t site)
{
	struct calls_entered entered;

	assert_int_equal(calls_enter(calls, &at, function, site, &entered), 0);
	calls_begin(calls, entered.number);
	return entered.number;
}

static uint64_t returned(struct calls *calls, struct place at, unsigned int function)
{
	return calls_return(calls, &at, function);
}

static struct place deeper(uint64_t bytes)
{
	struct place result = place;

	result.sp -= bytes;
	return result;
}

static void call_ends_at_the_return_with_its_stack_pointer(struct calls *calls)
{
	uint64_t number;

	number = entered(calls, place, SHORT, SITE);
	assert_int_equal(returned(calls, deeper(8), SHORT), 0);
	assert_int_equal(returned(calls, place, SHORT), number);
	assert_int_equal(returned(calls, place, SHORT), 0);
}

static void nested_calls_end_each_by_itself(struct calls *calls)
{
	uint64_t outer, inner;

	outer = entered(calls, place, SHORT, SITE);
	inner = entered(calls, deeper(256), SHORT, SITE);
	assert_int_equal(returned(calls, deeper(256), SHORT), inner);
	assert_int_equal(returned(calls, place, SHORT), outer);
}

static void threads_and_processes_at_one_address_are_told_apart(struct calls *calls)
{
	struct place thread = place, process = place;
	uint64_t numbers[3];

	thread.thread++;
	process.space++;
	numbers[0] = entered(calls, place, SHORT, SITE);
	numbers[1] = entered(calls, thread, SHORT, SITE);
	numbers[2] = entered(calls, process, SHORT, SITE);
	assert_int_equal(returned(calls, process, SHORT), numbers[2]);
	assert_int_equal(returned(calls, place, SHORT), numbers[0]);
	assert_int_equal(returned(calls, thread, SHORT), numbers[1]);
}

static void tail_call_ends_both_at_the_site_innermost_first(struct calls *calls)
{
	uint64_t numbers[MAX], outer, inner;

	outer = entered(calls, place, SHORT, SITE);
	inner = entered(calls, place, LONG, SITE);
	assert_int_equal(calls_arrive(calls, &place, SITE, numbers, MAX), 2);
	assert_int_equal(numbers[0], inner);
	assert_int_equal(numbers[1], outer);
}

static void return_of_the_inner_function_leaves_the_outer_one_to_its_site(struct calls *calls)
{
	uint64_t numbers[MAX], outer, inner;

	outer = entered(calls, place, SHORT, SITE);
	inner = entered(calls, place, LONG, SITE);
	assert_int_equal(returned(calls, place, LONG), inner);
	assert_int_equal(calls_arrive(calls, &place, SITE, numbers, MAX), 1);
	assert_int_equal(numbers[0], outer);
}

static void site_of_another_call_ends_nothing(struct calls *calls)
{
	uint64_t numbers[MAX];
	struct place above = place;

	above.sp += 8;
	entered(calls, place, SHORT, SITE);
	assert_int_equal(calls_arrive(calls, &place, OTHER_SITE, numbers, MAX), 0);
	assert_int_equal(calls_arrive(calls, &above, SITE, numbers, MAX), 0);
	assert_int_equal(calls->count, 1);
}

static void call_that_longjmp_left_is_abandoned_by_the_next_one_there(struct calls *calls)
{
	struct calls_entered second;
	uint64_t first;

	first = entered(calls, place, SHORT, SITE);
	assert_int_equal(calls_enter(calls, &place, SHORT, SITE, &second), 0);
	assert_int_equal(second.abandoned, first);
	assert_int_equal(returned(calls, place, SHORT), second.number);
	assert_int_equal(returned(calls, place, SHORT), 0);
}

static void first_instruction_that_a_page_fault_repeats_is_the_same_call(struct calls *calls)
{
	struct calls_entered first, second;

	calls_enter(calls, &place, SHORT, SITE, &first);
	calls_enter(calls, &place, SHORT, SITE, &second);
	assert_int_equal(second.number, first.number);
	assert_int_equal(second.abandoned, 0);
	assert_int_equal(calls->count, 1);
}

static void call_without_room_is_counted_and_the_others_go_on(struct calls *calls)
{
	struct calls_entered last;
	struct place far;

	for (unsigned int i = 0; i < CALLS_OPEN_MAX; i++)
		entered(calls, deeper(i * UINT64_C(16)), SHORT, SITE);
	far = deeper(CALLS_OPEN_MAX * UINT64_C(16));
	assert_int_equal(calls_enter(calls, &far, SHORT, SITE, &last), -ENOSPC);
	assert_int_equal(calls->lost, 1);
	assert_int_equal(returned(calls, place, SHORT), 1);
}

static void call_whose_site_has_no_room_is_counted(struct calls *calls)
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

FIXTURE(stacks, stacks_init, NOTHING);

static struct stack seen(uint64_t first, uint64_t second, uint64_t third)
{
	return (struct stack){
		.base = BASE, .sp = 0x7ffe00, .word_count = 3, .words = {first, second, third}};
}

static unsigned int number(struct stacks *stacks, struct stack stack, bool *is_new)
{
	return stacks_number(stacks, &stack, TEXT_BEGIN, TEXT_END, is_new);
}

static void stack_of_the_same_callers_is_the_same_whatever_else_is_on_it(struct stacks *stacks)
{
	bool is_new;

	assert_int_equal(number(stacks, seen(BASE + 0x1234, 7, BASE + 0x2000), &is_new), 1);
	assert_true(is_new);
	assert_int_equal(number(stacks, seen(BASE + 0x1234, 99, BASE + 0x2000), &is_new), 1);
	assert_false(is_new);
}

static void other_callers_make_another_stack(struct stacks *stacks)
{
	bool is_new;

	number(stacks, seen(BASE + 0x1234, 7, BASE + 0x2000), &is_new);
	assert_int_equal(number(stacks, seen(BASE + 0x1234, 7, BASE + 0x2008), &is_new), 2);
	assert_true(is_new);
	assert_int_equal(number(stacks, seen(BASE + 0x1234, BASE + 0x2000, 7), &is_new), 3);
}

static void file_at_another_place_is_the_same_stack(struct stacks *stacks)
{
	struct stack moved = seen(2 * BASE + 0x1234, 7, 2 * BASE + 0x2000);
	bool is_new;

	moved.base = 2 * BASE;
	number(stacks, seen(BASE + 0x1234, 7, BASE + 0x2000), &is_new);
	assert_int_equal(number(stacks, moved, &is_new), 1);
}

static void stacks_without_room_have_no_number(struct stacks *stacks)
{
	bool is_new;

	for (unsigned int i = 0; i < STACKS_MAX; i++)
		number(stacks, seen(BASE + TEXT_BEGIN + i, 0, 0), &is_new);
	assert_int_equal(number(stacks, seen(BASE + TEXT_BEGIN + STACKS_MAX, 0, 0), &is_new), 0);
	assert_false(is_new);
}

static void site_that_a_call_pushes_is_on_top(void)
{
	struct stack stack = seen(1, 2, 3);

	stack_push(&stack, 8, 99);
	assert_int_equal(stack.sp, 0x7ffdf8);
	assert_int_equal(stack.word_count, 4);
	assert_int_equal(stack.words[0], 99);
	assert_int_equal(stack.words[3], 3);
}

static void push_on_a_full_stack_drops_what_is_farthest(void)
{
	struct stack stack = {.sp = 0x7ffe00, .word_count = STACK_WORDS_MAX, .words = {7}};

	stack_push(&stack, 4, 99);
	assert_int_equal(stack.sp, 0x7ffdfc);
	assert_int_equal(stack.word_count, STACK_WORDS_MAX);
	assert_int_equal(stack.words[1], 7);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(calls, call_ends_at_the_return_with_its_stack_pointer),
	CASE_ON(calls, nested_calls_end_each_by_itself),
	CASE_ON(calls, threads_and_processes_at_one_address_are_told_apart),
	CASE_ON(calls, tail_call_ends_both_at_the_site_innermost_first),
	CASE_ON(calls, return_of_the_inner_function_leaves_the_outer_one_to_its_site),
	CASE_ON(calls, site_of_another_call_ends_nothing),
	CASE_ON(calls, call_that_longjmp_left_is_abandoned_by_the_next_one_there),
	CASE_ON(calls, first_instruction_that_a_page_fault_repeats_is_the_same_call),
	CASE_ON(calls, call_without_room_is_counted_and_the_others_go_on),
	CASE_ON(calls, call_whose_site_has_no_room_is_counted),
	CASE_ON(stacks, stack_of_the_same_callers_is_the_same_whatever_else_is_on_it),
	CASE_ON(stacks, other_callers_make_another_stack),
	CASE_ON(stacks, file_at_another_place_is_the_same_stack),
	CASE(site_that_a_call_pushes_is_on_top),
	CASE(push_on_a_full_stack_drops_what_is_farthest),
	CASE_ON(stacks, stacks_without_room_have_no_number),
};

RUN_CASES(tests)
