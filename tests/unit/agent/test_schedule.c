/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../cases.h"
#include "spec.h"

static const struct schedule once = {.window = {{10, 20}, {20, 25}, {40, 50}}, .count = 3};
static const struct schedule periodic = {
	.window = {{0, 5}, {90, 100}}, .count = 2, .period_ns = 100};

static void window_holds_its_beginning_and_not_its_end(void)
{
	assert_false(schedule_open(&once, 9));
	assert_true(schedule_open(&once, 10));
	assert_true(schedule_open(&once, 24));
	assert_false(schedule_open(&once, 25));
	assert_true(schedule_open(&once, 49));
	assert_false(schedule_open(&once, 50));
	assert_false(schedule_open(&once, UINT64_MAX));
}

static void edge_that_comes_next_is_after_the_moment(void)
{
	assert_int_equal(schedule_next_edge_ns(&once, 0), 10);
	assert_int_equal(schedule_next_edge_ns(&once, 10), 20);
	assert_int_equal(schedule_next_edge_ns(&once, 20), 25);
	assert_int_equal(schedule_next_edge_ns(&once, 25), 40);
	assert_int_equal(schedule_next_edge_ns(&once, 49), 50);
}

static void no_edge_comes_after_the_last_window(void)
{
	assert_true(schedule_next_edge_ns(&once, 50) == SCHEDULE_NEVER_NS);
}

static void no_windows_are_never_open(void)
{
	const struct schedule none = {.period_ns = 100};

	assert_false(schedule_open(&none, 0));
	assert_true(schedule_next_edge_ns(&none, 0) == SCHEDULE_NEVER_NS);
}

static void windows_with_a_period_come_again(void)
{
	assert_true(schedule_open(&periodic, 0));
	assert_false(schedule_open(&periodic, 305));
	assert_true(schedule_open(&periodic, 399));
	assert_true(schedule_open(&periodic, 400));
	assert_int_equal(schedule_next_edge_ns(&periodic, 300), 305);
	assert_int_equal(schedule_next_edge_ns(&periodic, 305), 390);
	assert_int_equal(schedule_next_edge_ns(&periodic, 390), 400);
}

static void first_window_of_the_next_period_comes_after_the_last(void)
{
	const struct schedule late = {.window = {{10, 20}}, .count = 1, .period_ns = 100};

	assert_int_equal(schedule_next_edge_ns(&late, 220), 310);
	assert_int_equal(schedule_next_edge_ns(&late, 299), 310);
	assert_int_equal(schedule_next_edge_ns(&late, 300), 310);
}

static const struct CMUnitTest tests[] = {
	CASE(window_holds_its_beginning_and_not_its_end),
	CASE(edge_that_comes_next_is_after_the_moment),
	CASE(no_edge_comes_after_the_last_window),
	CASE(no_windows_are_never_open),
	CASE(windows_with_a_period_come_again),
	CASE(first_window_of_the_next_period_comes_after_the_last),
};

RUN_CASES(tests)
