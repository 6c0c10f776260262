/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../run_cases.h"
#include "spec.h"

static const struct schedule once = {.window = {{10, 20}, {20, 25}, {40, 50}}, .count = 3};
static const struct schedule periodic = {
	.window = {{0, 5}, {90, 100}}, .count = 2, .period_ns = 100};

TEST(window_includes_its_beginning_but_not_its_end)
{
	assert_false(schedule_open(&once, 9));
	assert_true(schedule_open(&once, 10));
	assert_true(schedule_open(&once, 24));
	assert_false(schedule_open(&once, 25));
	assert_true(schedule_open(&once, 49));
	assert_false(schedule_open(&once, 50));
	assert_false(schedule_open(&once, UINT64_MAX));
}

TEST(next_edge_is_after_the_given_time)
{
	assert_int_equal(schedule_next_edge_ns(&once, 0), 10);
	assert_int_equal(schedule_next_edge_ns(&once, 10), 20);
	assert_int_equal(schedule_next_edge_ns(&once, 20), 25);
	assert_int_equal(schedule_next_edge_ns(&once, 25), 40);
	assert_int_equal(schedule_next_edge_ns(&once, 49), 50);
}

TEST(no_edge_follows_the_last_window)
{
	assert_true(schedule_next_edge_ns(&once, 50) == SCHEDULE_NEVER_NS);
}

TEST(schedule_without_windows_is_never_open)
{
	const struct schedule none = {.period_ns = 100};

	assert_false(schedule_open(&none, 0));
	assert_true(schedule_next_edge_ns(&none, 0) == SCHEDULE_NEVER_NS);
}

TEST(windows_repeat_with_the_period)
{
	assert_true(schedule_open(&periodic, 0));
	assert_false(schedule_open(&periodic, 305));
	assert_true(schedule_open(&periodic, 399));
	assert_true(schedule_open(&periodic, 400));
	assert_int_equal(schedule_next_edge_ns(&periodic, 300), 305);
	assert_int_equal(schedule_next_edge_ns(&periodic, 305), 390);
	assert_int_equal(schedule_next_edge_ns(&periodic, 390), 400);
}

TEST(first_window_of_the_next_period_follows_the_last_one)
{
	const struct schedule late = {.window = {{10, 20}}, .count = 1, .period_ns = 100};

	assert_int_equal(schedule_next_edge_ns(&late, 220), 310);
	assert_int_equal(schedule_next_edge_ns(&late, 299), 310);
	assert_int_equal(schedule_next_edge_ns(&late, 300), 310);
}
