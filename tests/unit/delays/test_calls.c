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
};

RUN_CASES(tests)
