// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE

#include "../cases.h"
#include "clock.h"
#include "series.h"

static const char *const sleeps[] = {
	"nanosleep", "clock_nanosleep", "select", "pselect", "poll", "ppoll"};
#define SLEEPS (COUNT(sleeps))

/* Lower bounds only, since a busy machine may add any time. */
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
	CASE(no_wait_ends_early),
	CASE(every_wait_is_found_by_the_name_of_its_function),
};

RUN_CASES(tests)
