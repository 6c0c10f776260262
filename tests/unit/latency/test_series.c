// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE

#include <errno.h>

#include "../cases.h"
#include "clock.h"
#include "series.h"

FIXTURE(series, NOTHING, NOTHING);

static void every_argument_of_a_wait_is_parsed(struct series *found)
{
	assert_int_equal(
		series_parse("wait:wait=nanosleep,request_ns=100000,count=16384,limit_ms=4000,"
			     "fifo=1,slack_ns=1,cpu=3,eaters=2,hold_us=0",
			found),
		0);
	assert_int_equal(found->kind, SERIES_WAIT);
	assert_string_equal(found->wait->name, "nanosleep");
	assert_int_equal(found->request_ns, 100000);
	assert_int_equal(found->count, 16384);
	assert_int_equal(found->limit_ms, 4000);
	assert_int_equal(found->fifo_priority, 1);
	assert_int_equal(found->slack_ns, 1);
	assert_int_equal(found->cpu, 3);
	assert_int_equal(found->eaters, 2);
	assert_int_equal(found->hold_us, 0);
}

static void missing_arguments_change_nothing_in_the_process(struct series *found)
{
	assert_int_equal(series_parse("wait:wait=nop,count=1", found), 0);
	assert_int_equal(found->fifo_priority, 0);
	assert_int_equal(found->slack_ns, 0);
	assert_int_equal(found->cpu, -1);
	assert_int_equal(found->eaters, 0);
	assert_int_equal(found->hold_us, -1);
}

static void kinds_without_required_arguments_need_no_colon(struct series *found)
{
	assert_int_equal(series_parse("facts", found), 0);
	assert_int_equal(found->kind, SERIES_FACTS);
	assert_int_equal(series_parse("audit:cpu=0", found), 0);
	assert_int_equal(found->kind, SERIES_AUDIT);
}

static void values_at_a_bound_are_accepted_and_beyond_it_refused(struct series *found)
{
	assert_int_equal(series_parse("wait:wait=nop,count=1000000", found), 0);
	assert_int_equal(series_parse("wait:wait=nop,count=1000001", found), -EINVAL);
	assert_int_equal(series_parse("wait:wait=nop,count=1,fifo=99", found), 0);
	assert_int_equal(series_parse("wait:wait=nop,count=1,fifo=100", found), -EINVAL);
	assert_int_equal(series_parse("wait:wait=nop,count=1,request_ns=100000000000", found), 0);
	assert_int_equal(
		series_parse("wait:wait=nop,count=1,request_ns=100000000001", found), -EINVAL);
	assert_int_equal(series_parse("wait:wait=nop,count=1,eaters=64", found), 0);
	assert_int_equal(series_parse("wait:wait=nop,count=1,eaters=65", found), -EINVAL);
}

static void invalid_series_is_refused(struct series *found)
{
	static const char *const wrong[] = {
		"",
		"facts2",
		"wait",
		"wait:",
		"wait:wait=nanosleep",
		"wait:count=1",
		"wait:wait=usleep,count=1",
		"wait:wait=nop,count=0",
		"wait:wait=nop,count=-1",
		"wait:wait=nop,count= 1",
		"wait:wait=nop,count=1x",
		"wait:wait=nop,count=",
		"wait:wait=nop,count",
		"wait:wait=nop,count=1,",
		"wait:wait=nop,count=1,unknown=1",
		"wait:wait=nop,count=99999999999999999999",
		"sweep:wait=select,from_ns=1,to_ns=2",
		"sweep:wait=select,from_ns=2,to_ns=1,step_ns=1",
		"sweep:wait=select,from_ns=0,to_ns=100000000,step_ns=1",
		"sweep:from_ns=1,to_ns=2,step_ns=1",
		"periods:count=1",
		"periods:request_ns=1",
		"ticks:request_ns=1",
		"ticks:cpu=0",
	};

	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(series_parse(wrong[i], found), -EINVAL);
}

static void sweep_of_a_single_length_is_accepted(struct series *found)
{
	assert_int_equal(series_parse("sweep:wait=ppoll,from_ns=5,to_ns=5,step_ns=1", found), 0);
	assert_int_equal(found->from_ns, 5);
	assert_int_equal(found->to_ns, 5);
}

static const char *const sleeps[] = {
	"nanosleep", "clock_nanosleep", "select", "pselect", "poll", "ppoll"};
#define SLEEPS (COUNT(sleeps))

/* Only lower bounds are asserted, because a busy machine may delay the end of any wait. */
static void no_wait_ends_early(void)
{
	static const int64_t lengths_ns[] = {0, 1, 1001, 999999, 1000001, 10000000};

	for (size_t s = 0; s < SLEEPS; s++) {
		const struct wait *wait = wait_find(sleeps[s]);

		assert_non_null(wait);
		for (size_t i = 0; i < COUNT(lengths_ns); i++) {
			const int64_t before_ns = clock_now_ns();

			wait->wait(lengths_ns[i]);
			assert_true(clock_now_ns() - before_ns >= lengths_ns[i]);
		}
	}
}

static void every_wait_is_found_by_the_name_of_its_function(void)
{
	for (size_t s = 0; s < SLEEPS; s++)
		assert_string_equal(wait_find(sleeps[s])->name, sleeps[s]);
	assert_non_null(wait_find("nop"));
	assert_non_null(wait_find("sched_yield"));
	assert_null(wait_find("usleep"));
	assert_null(wait_find(""));
}

static const struct CMUnitTest tests[] = {
	CASE_ON(series, every_argument_of_a_wait_is_parsed),
	CASE_ON(series, missing_arguments_change_nothing_in_the_process),
	CASE_ON(series, kinds_without_required_arguments_need_no_colon),
	CASE_ON(series, values_at_a_bound_are_accepted_and_beyond_it_refused),
	CASE_ON(series, invalid_series_is_refused),
	CASE_ON(series, sweep_of_a_single_length_is_accepted),
	CASE(no_wait_ends_early),
	CASE(every_wait_is_found_by_the_name_of_its_function),
};

RUN_CASES(tests)
