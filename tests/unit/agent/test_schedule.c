/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../cases.h"
#include "spec.h"

static const struct schedule once = {.window = {{10, 20}, {20, 25}, {40, 50}}, .count = 3};
static const struct schedule periodic = {
	.window = {{0, 5}, {90, 100}}, .count = 2, .period_ns = 100};

static void window_includes_its_beginning_but_not_its_end(void)
{
	assert_false(schedule_open(&once, 9));
	assert_true(schedule_open(&once, 10));
	assert_true(schedule_open(&once, 24));
	assert_false(schedule_open(&once, 25));
	assert_true(schedule_open(&once, 49));
	assert_false(schedule_open(&once, 50));
	assert_false(schedule_open(&once, UINT64_MAX));
}

static void next_edge_is_after_the_given_time(void)
{
	assert_int_equal(schedule_next_edge_ns(&once, 0), 10);
	assert_int_equal(schedule_next_edge_ns(&once, 10), 20);
	assert_int_equal(schedule_next_edge_ns(&once, 20), 25);
	assert_int_equal(schedule_next_edge_ns(&once, 25), 40);
	assert_int_equal(schedule_next_edge_ns(&once, 49), 50);
}

static void no_edge_follows_the_last_window(void)
{
	assert_true(schedule_next_edge_ns(&once, 50) == SCHEDULE_NEVER_NS);
}

static void schedule_without_windows_is_never_open(void)
{
	const struct schedule none = {.period_ns = 100};

	assert_false(schedule_open(&none, 0));
	assert_true(schedule_next_edge_ns(&none, 0) == SCHEDULE_NEVER_NS);
}

static void windows_repeat_with_the_period(void)
{
	assert_true(schedule_open(&periodic, 0));
	assert_false(schedule_open(&periodic, 305));
	assert_true(schedule_open(&periodic, 399));
	assert_true(schedule_open(&periodic, 400));
	assert_int_equal(schedule_next_edge_ns(&periodic, 300), 305);
	assert_int_equal(schedule_next_edge_ns(&periodic, 305), 390);
	assert_int_equal(schedule_next_edge_ns(&periodic, 390), 400);
}

static void first_window_of_the_next_period_follows_the_last_one(void)
{
	const struct schedule late = {.window = {{10, 20}}, .count = 1, .period_ns = 100};

	assert_int_equal(schedule_next_edge_ns(&late, 220), 310);
	assert_int_equal(schedule_next_edge_ns(&late, 299), 310);
	assert_int_equal(schedule_next_edge_ns(&late, 300), 310);
}

static const struct CMUnitTest tests[] = {
	CASE(window_includes_its_beginning_but_not_its_end),
	CASE(next_edge_is_after_the_given_time),
	CASE(no_edge_follows_the_last_window),
	CASE(schedule_without_windows_is_never_open),
	CASE(windows_repeat_with_the_period),
	CASE(first_window_of_the_next_period_follows_the_last_one),
};

RUN_CASES(tests)
