// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE

#include "../cases.h"
#include "readings.h"

FIXTURE(statistics, NOTHING, NOTHING);

static void no_reading_is_all_zero(void)
{
	struct statistics found = {.count = 7, .mean_ns = 7};

	statistics_fold(NULL, 0, &found);
	assert_int_equal(found.count, 0);
	assert_int_equal(found.mean_ns, 0);
	assert_int_equal(found.quantile_ns[100], 0);
}

static void single_reading_is_every_quantile_and_deviates_by_nothing(struct statistics *found)
{
	int64_t readings[] = {-5};

	statistics_fold(readings, 1, found);
	assert_int_equal(found->count, 1);
	assert_int_equal(found->mean_ns, -5);
	assert_int_equal(found->deviation_ns, 0);
	for (size_t q = 0; q < QUANTILES; q++)
		assert_int_equal(found->quantile_ns[q], -5);
}

static void quantiles_are_nearest_ranks_of_what_was_seen(struct statistics *found)
{
	int64_t readings[] = {40, 10, 30, 20};

	statistics_fold(readings, 4, found);
	assert_int_equal(found->mean_ns, 25);
	assert_int_equal(found->deviation_ns, 13); /* sqrt(500 / 3) */
	assert_int_equal(found->quantile_ns[0], 10);
	assert_int_equal(found->quantile_ns[25], 10);
	assert_int_equal(found->quantile_ns[26], 20);
	assert_int_equal(found->quantile_ns[50], 20);
	assert_int_equal(found->quantile_ns[51], 30);
	assert_int_equal(found->quantile_ns[75], 30);
	assert_int_equal(found->quantile_ns[76], 40);
	assert_int_equal(found->quantile_ns[100], 40);
}

static void of_a_hundred_readings_the_99th_percentile_is_the_last_but_one(struct statistics *found)
{
	int64_t readings[100];

	for (int64_t i = 0; i < 100; i++)
		readings[i] = 100 - i;
	statistics_fold(readings, 100, found);
	assert_int_equal(found->quantile_ns[1], 1);
	assert_int_equal(found->quantile_ns[50], 50);
	assert_int_equal(found->quantile_ns[99], 99);
	assert_int_equal(found->quantile_ns[100], 100);
}

static void long_waits_do_not_overflow_the_deviation(struct statistics *found)
{
	int64_t readings[] = {100000000000, 0};

	statistics_fold(readings, 2, found);
	assert_int_equal(found->mean_ns, 50000000000);
	assert_int_equal(found->deviation_ns, 70710678119);
}

static const struct CMUnitTest tests[] = {
	CASE(no_reading_is_all_zero),
	CASE_ON(statistics, single_reading_is_every_quantile_and_deviates_by_nothing),
	CASE_ON(statistics, quantiles_are_nearest_ranks_of_what_was_seen),
	CASE_ON(statistics, of_a_hundred_readings_the_99th_percentile_is_the_last_but_one),
	CASE_ON(statistics, long_waits_do_not_overflow_the_deviation),
};

RUN_CASES(tests)
