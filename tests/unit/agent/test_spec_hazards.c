/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hazards of the subject, and its moves from core to core. */
#include "spec_bench.h"

static void every_hazard_goes_to_its_place(void **state)
{
	struct bench bench;
	const struct spec_hazards *hazards = &bench.spec.hazards;

	(void)state;
	assert_int_equal(parse(&bench, LEAST "siblings 3\n"
					     "siblings_from accept\n"
					     "siblings_window 0 20\n"
					     "siblings_window 20 4294967295\n"
					     "siblings_period_ms 100\n"
					     "hogs 2\n"
					     "memory_pressure 1\n"
					     "realtime_denied 1\n"
					     "refused sleep eperm\n"
					     "refused poll enosys\n"
					     "few_descriptors 4\n"
					     "few_memory_mib 64\n"
					     "few_threads 1\n"
					     "uptime_ns 4294967196000000\n"
					     "tsc_mhz 2400\n"
					     "rt_runtime_us 20000\n"
					     "wall_step -7 100\n"
					     "leap delete 300\n"),
		0);
	assert_int_equal(hazards->siblings, 3);
	assert_true(hazards->siblings_from_accept);
	assert_int_equal(hazards->siblings_schedule.count, 2);
	assert_int_equal(hazards->siblings_schedule.window[0].from_ns, 0);
	assert_int_equal(hazards->siblings_schedule.window[0].to_ns, 20000000);
	assert_true(hazards->siblings_schedule.window[1].to_ns == UINT64_C(4294967295000000));
	assert_int_equal(hazards->siblings_schedule.period_ns, 100000000);
	assert_int_equal(hazards->hogs, 2);
	assert_true(hazards->memory_pressure);
	assert_true(hazards->realtime_denied);
	assert_int_equal(hazards->refused.count, 2);
	assert_int_equal(hazards->few.descriptors, 4);
	assert_int_equal(hazards->few.memory_mib, 64);
	assert_true(hazards->few.no_threads);
	assert_true(hazards->uptime_ns == UINT64_C(4294967196000000));
	assert_int_equal(hazards->tsc_mhz, 2400);
	assert_int_equal(hazards->rt_runtime_us, 20000);
	assert_int_equal(hazards->wall_step_s, -7);
	assert_int_equal(hazards->wall_step_every_ms, 100);
	assert_int_equal(hazards->leap, SPEC_LEAP_DELETE);
	assert_int_equal(hazards->leap_after_ms, 300);
}

static void other_ways_to_write_a_hazard_are_taken(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse_line(&bench, "siblings_from start"), 0);
	assert_false(bench.spec.hazards.siblings_from_accept);
	assert_int_equal(parse_line(&bench, "wall_step 7 1"), 0);
	assert_int_equal(bench.spec.hazards.wall_step_s, 7);
	assert_int_equal(parse_line(&bench, "leap insert 1100"), 0);
	assert_int_equal(bench.spec.hazards.leap, SPEC_LEAP_INSERT);
}

static void hazard_that_makes_no_sense_is_refused(void **state)
{
	static const char *const lines[] = {"siblings_from", "siblings_from ", "siblings_from end",
		"siblings_window 5", "siblings_window 5 5", "siblings_window 6 5",
		"siblings_window 5 6 7", "siblings_window -5 6", "memory_pressure 0",
		"memory_pressure 2", "realtime_denied yes", "wall_step 1", "wall_step 0 5",
		"wall_step 5 0", "wall_step --1 5", "wall_step +1 5", "wall_step 1 5 5", "leap",
		"leap insert", "leap skip 5", "refused sleep", "refused sleep eperm 1",
		"leap insert 1101", "leap insert 5 5"};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_int_equal(parse_line(&bench, lines[i]), LEAST_LINES + 1);
}

static void window_past_the_limit_is_refused(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse_lines(&bench, "siblings_window 1 2", SCHEDULE_WINDOWS_MAX), 0);
	assert_int_equal(parse_lines(&bench, "siblings_window 1 2", SCHEDULE_WINDOWS_MAX + 1),
		LEAST_LINES + SCHEDULE_WINDOWS_MAX + 1);
}

static void every_movement_goes_to_its_place(void **state)
{
	const struct spec_movement *movement;
	struct bench bench;

	(void)state;
	assert_int_equal(parse(&bench, LEAST "move accept 20 3\nmigrate 50 7\nhotplug 2 9\n"
					     "anywhere 1\nrehearsal /s\nrehearsal -V\n"),
		0);
	movement = &bench.spec.movement;
	assert_true(movement->moves && movement->move_from_accept && movement->anywhere);
	assert_int_equal(movement->move_after_ms, 20);
	assert_int_equal(movement->move_to_core, 3);
	assert_int_equal(movement->migrate.hz, 50);
	assert_int_equal(movement->migrate.seed, 7);
	assert_int_equal(movement->hotplug.hz, 2);
	assert_int_equal(movement->hotplug.seed, 9);
	assert_int_equal(bench.spec.rehearsal.count, 2);
}

static void movement_that_makes_no_sense_is_refused(void **state)
{
	static const char *const lines[] = {"move", "move never 1 1", "move start 1", "migrate 0 1",
		"migrate 1001 1", "migrate 5", "hotplug x 1", "anywhere 0"};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_int_equal(parse_line(&bench, lines[i]), LEAST_LINES + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_hazard_goes_to_its_place),
		cmocka_unit_test(other_ways_to_write_a_hazard_are_taken),
		cmocka_unit_test(hazard_that_makes_no_sense_is_refused),
		cmocka_unit_test(window_past_the_limit_is_refused),
		cmocka_unit_test(every_movement_goes_to_its_place),
		cmocka_unit_test(movement_that_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
