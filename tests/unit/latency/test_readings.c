// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE

#include <stdio.h>

#include "../cases.h"
#include "readings.h"

static void state_of_timers_is_kept_in_the_words_of_old_kernels_and_new_ones(void)
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

static void single_timers_are_not_kept(void)
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

static void cpu_that_is_not_there_has_no_count(void)
{
	assert_int_equal(count(x86, 1), -1);
	assert_int_equal(count(x86, 20), -1);
}

static void arch_timer_of_arm64_is_counted(void)
{
	assert_int_equal(count(arm64, 0), 1234);
}

static void text_without_such_a_row_has_no_count(void)
{
	assert_int_equal(count("    CPU0\n NMI: 1 x\n", 0), -1);
	assert_int_equal(count("    CPU0\n LOC:\n", 0), -1);
	assert_int_equal(count("\n", 0), -1);
}

static const struct CMUnitTest tests[] = {
	CASE(state_of_timers_is_kept_in_the_words_of_old_kernels_and_new_ones),
	CASE(single_timers_are_not_kept),
	CASE(local_timer_of_x86_is_counted_in_the_column_of_its_cpu),
	CASE(cpu_that_is_not_there_has_no_count),
	CASE(arch_timer_of_arm64_is_counted),
	CASE(text_without_such_a_row_has_no_count),
};

RUN_CASES(tests)
