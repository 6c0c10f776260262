/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serprog/clock.h"

static void scripted_clock_stands_still_between_ticks(void **state)
{
	struct clock clock;

	(void)state;
	clock_init_scripted(&clock, 250);
	assert_int_equal(clock_now_ns(&clock), CLOCK_SCRIPTED_START_NS);
	assert_int_equal(clock_now_ns(&clock), CLOCK_SCRIPTED_START_NS);
	clock_tick(&clock);
	assert_int_equal(clock_now_ns(&clock), CLOCK_SCRIPTED_START_NS + 250);
	assert_int_equal(clock.step_ns, 250);
}

static void wait_on_a_scripted_clock_is_over_at_once_and_exact(void **state)
{
	struct clock clock;

	(void)state;
	clock_init_scripted(&clock, 250);
	clock_wait_until(&clock, CLOCK_SCRIPTED_START_NS + 7);
	assert_int_equal(clock_now_ns(&clock), CLOCK_SCRIPTED_START_NS + 7);
	clock_wait_until(&clock, CLOCK_SCRIPTED_START_NS + 6);
	assert_int_equal(clock_now_ns(&clock), CLOCK_SCRIPTED_START_NS + 7);
	assert_int_equal(clock.backward_count, 0);
}

static void tick_leaves_the_kernels_clock_alone(void **state)
{
	struct clock clock;
	uint64_t before_ns;

	(void)state;
	assert_int_equal(clock_init(&clock, CLOCK_SOURCE_MONOTONIC), 0);
	assert_true(clock.step_ns > 0);
	clock.step_ns = UINT64_C(1) << 60;
	before_ns = clock_now_ns(&clock);
	clock_tick(&clock);
	assert_true(clock_now_ns(&clock) - before_ns < UINT64_C(1) << 60);
}

static void each_clock_has_the_name_that_its_option_has(void **state)
{
	(void)state;
	assert_string_equal(clock_source_name(CLOCK_SOURCE_MONOTONIC), "monotonic");
	assert_string_equal(clock_source_name(CLOCK_SOURCE_TSC), "tsc");
	assert_string_equal(clock_source_name(CLOCK_SOURCE_SCRIPTED), "scripted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripted_clock_stands_still_between_ticks),
		cmocka_unit_test(wait_on_a_scripted_clock_is_over_at_once_and_exact),
		cmocka_unit_test(tick_leaves_the_kernels_clock_alone),
		cmocka_unit_test(each_clock_has_the_name_that_its_option_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
