/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "../cases.h"
#include "hazards.h"
#include "process.h"

/* The hog itself needs a guest; this test never starts it. */
void process_sleep_ms(unsigned int ms)
{
	(void)ms;
	fail();
}

void process_become_ordinary(unsigned int core)
{
	(void)core;
	fail();
}

static uint64_t reclaimed(const char *text)
{
	FILE *vmstat = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	uint64_t pages;

	assert_non_null(vmstat);
	pages = memory_hog_reclaimed(vmstat);
	fclose(vmstat);
	return pages;
}

static void both_ways_to_reclaim_are_added_up(void)
{
	assert_int_equal(reclaimed("nr_free_pages 9\npgsteal_kswapd 40\npgsteal_direct 2\n"), 42);
}

static void other_counters_of_the_same_beginning_are_passed_over(void)
{
	assert_int_equal(reclaimed("pgsteal_khugepaged 7\npgsteal_anon 40\npgsteal_kswapd 3\n"), 3);
}

static void counter_has_64_bits(void)
{
	assert_true(reclaimed("pgsteal_direct 18446744073709551615\n") == UINT64_MAX);
}

static void text_without_the_counters_is_zero(void)
{
	assert_int_equal(reclaimed("\n"), 0);
	assert_int_equal(reclaimed("nr_free_pages 9\n"), 0);
}

static void end_of_a_hog_that_was_never_started_does_nothing(void)
{
	pid_t hog = 0;

	memory_hog_end(&hog);
	assert_int_equal(hog, 0);
}

static const struct CMUnitTest tests[] = {
	CASE(both_ways_to_reclaim_are_added_up),
	CASE(other_counters_of_the_same_beginning_are_passed_over),
	CASE(counter_has_64_bits),
	CASE(text_without_the_counters_is_zero),
	CASE(end_of_a_hog_that_was_never_started_does_nothing),
};

RUN_CASES(tests)
