// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE

#include <stdio.h>

#include "../cases.h"
#include "readings.h"

static void lines_about_timer_handling_of_old_and_new_kernels_are_kept(void)
{
	static const char *const lines[] = {
		"cpu: 0\n",
		"  .resolution: 1 nsecs\n",
		"  .hres_active    : 1\n",
		"  .nohz_mode      : 2\n",
		"  .nohz           : 1\n",
		"  .highres        : 1\n",
		"Clock Event Device: lapic-deadline\n",
		" event_handler:  hrtimer_interrupt\n",
	};

	for (size_t i = 0; i < COUNT(lines); i++)
		assert_true(facts_keeps(lines[i]));
}

static void lines_about_single_timers_are_not_kept(void)
{
	static const char *const lines[] = {
		" #0: <000000002b86fb01>, tick_nohz_handler, S:01\n",
		" # expires at 973672000000-973672000000 nsecs [in 3256655 to 3256655 nsecs]\n",
		"  .base:       00000000f0939724\n",
		"active timers:\n",
		"\n",
	};

	for (size_t i = 0; i < COUNT(lines); i++)
		assert_false(facts_keeps(lines[i]));
}

static int64_t count(const char *text, int64_t cpu)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int64_t found;

	assert_non_null(file);
	found = ticks_count(file, cpu);
	fclose(file);
	return found;
}

static const char x86[] = "            CPU0       CPU2       \n"
			  "   0:         10          0   IO-APIC    2-edge      timer\n"
			  " NMI:          1          2   Non-maskable interrupts\n"
			  " LOC:        123   45678901   Local timer interrupts\n";
static const char arm64[] = "           CPU0       \n"
			    " 11:       1234     GICv2  27 Level     arch_timer\n";

static void local_timer_of_x86_is_counted_in_the_column_of_its_cpu(void)
{
	assert_int_equal(count(x86, 0), 123);
	assert_int_equal(count(x86, 2), 45678901);
}

static void missing_cpu_has_no_count(void)
{
	assert_int_equal(count(x86, 1), -1);
	assert_int_equal(count(x86, 20), -1);
}

static void arch_timer_of_arm64_is_counted(void)
{
	assert_int_equal(count(arm64, 0), 1234);
}

static void text_without_timer_figures_has_no_count(void)
{
	assert_int_equal(count("    CPU0\n NMI: 1 x\n", 0), -1);
	assert_int_equal(count("    CPU0\n LOC:\n", 0), -1);
	assert_int_equal(count("\n", 0), -1);
}

FIXTURE(statistics, NOTHING, NOTHING);

static void statistics_of_no_readings_are_zero(void)
{
	struct statistics found = {.count = 7, .mean_ns = 7};

	statistics_fold(NULL, 0, &found);
	assert_int_equal(found.count, 0);
	assert_int_equal(found.mean_ns, 0);
	assert_int_equal(found.quantile_ns[100], 0);
}

static void single_reading_is_every_quantile_and_has_no_deviation(struct statistics *found)
{
	int64_t readings[] = {-5};

	statistics_fold(readings, 1, found);
	assert_int_equal(found->count, 1);
	assert_int_equal(found->mean_ns, -5);
	assert_int_equal(found->deviation_ns, 0);
	for (size_t q = 0; q < QUANTILES; q++)
		assert_int_equal(found->quantile_ns[q], -5);
}

static void quantiles_are_nearest_ranks_of_the_readings(struct statistics *found)
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

static void quantiles_of_a_hundred_readings_are_the_readings(struct statistics *found)
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
	CASE(lines_about_timer_handling_of_old_and_new_kernels_are_kept),
	CASE(lines_about_single_timers_are_not_kept),
	CASE(local_timer_of_x86_is_counted_in_the_column_of_its_cpu),
	CASE(missing_cpu_has_no_count),
	CASE(arch_timer_of_arm64_is_counted),
	CASE(text_without_timer_figures_has_no_count),
	CASE(statistics_of_no_readings_are_zero),
	CASE_ON(statistics, single_reading_is_every_quantile_and_has_no_deviation),
	CASE_ON(statistics, quantiles_are_nearest_ranks_of_the_readings),
	CASE_ON(statistics, quantiles_of_a_hundred_readings_are_the_readings),
	CASE_ON(statistics, long_waits_do_not_overflow_the_deviation),
};

RUN_CASES(tests)
