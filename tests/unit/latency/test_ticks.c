// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "readings.h"

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

static void local_timer_of_x86_is_counted_in_the_column_of_its_cpu(void **state)
{
	(void)state;
	assert_int_equal(count(x86, 0), 123);
	assert_int_equal(count(x86, 2), 45678901);
}

static void cpu_that_is_not_there_has_no_count(void **state)
{
	(void)state;
	assert_int_equal(count(x86, 1), -1);
	assert_int_equal(count(x86, 20), -1);
}

static void arch_timer_of_arm64_is_counted(void **state)
{
	(void)state;
	assert_int_equal(count(arm64, 0), 1234);
}

static void text_without_such_a_row_has_no_count(void **state)
{
	(void)state;
	assert_int_equal(count("    CPU0\n NMI: 1 x\n", 0), -1);
	assert_int_equal(count("    CPU0\n LOC:\n", 0), -1);
	assert_int_equal(count("\n", 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_timer_of_x86_is_counted_in_the_column_of_its_cpu),
		cmocka_unit_test(cpu_that_is_not_there_has_no_count),
		cmocka_unit_test(arch_timer_of_arm64_is_counted),
		cmocka_unit_test(text_without_such_a_row_has_no_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
