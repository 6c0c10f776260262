/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"
#include "model/start_state.h"

BENCH_SET_UP(w25q128jv, "W25Q128JV")

static void begin(struct bench *bench, enum start_state state)
{
	chip_start_in(&bench->chip, state, bench->now_ns, &bench->facts);
}

static void sleeping_part_is_silent_until_it_is_woken_and_waited_for(void **state)
{
	struct bench *bench = *state;

	begin(bench, START_ASLEEP);
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_POWER_DOWN);
	assert_int_equal(bench->reply[0], 0xFF);
	bench_op(bench, 0xAB, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench->now_ns += 3 * US - 1;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_RELEASE);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->reply[0], 0xEF);
}

static void fresh_part_owes_power_up_times_from_then_on(void **state)
{
	struct bench *bench = *state;

	begin(bench, START_FRESH);
	assert_false(bench->facts.lost_power);
	bench->now_ns += 20 * US - 1;
	bench_status(bench);
	assert_int_equal(bench->facts.rule, CHIP_RULE_SELECT);
	assert_false(bench->facts.lost_power);
	bench->now_ns += 1;
	bench_status(bench);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WRITE);
	bench->now_ns += 5 * MS;
	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void part_is_not_there_until_its_supply_is_up_and_owes_nothing_then(void **state)
{
	struct bench *bench = *state;

	begin(bench, START_RAMP_10MS);
	bench->now_ns += 10 * MS - 1;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_false(bench->facts.lost_power);
	assert_int_equal(bench->reply[0], 0xFF);
	bench->now_ns += 1;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->reply[0], 0xEF);
	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void ramps_differ_in_their_length(void **state)
{
	static const enum start_state ramps[] = {START_RAMP_1MS, START_RAMP_10MS, START_RAMP_100MS};
	struct bench *bench = *state;
	uint64_t length_ns = 1 * MS;

	for (size_t i = 0; i < 3; i++, length_ns *= 10) {
		begin(bench, ramps[i]);
		bench->now_ns += length_ns - 1;
		assert_int_equal(bench_status(bench), 0xFF);
		bench->now_ns += 1;
		assert_int_equal(bench_status(bench), 0x00);
	}
}

static void resetting_part_hears_nothing_for_as_long_as_a_reset_takes(void **state)
{
	struct bench *bench = *state;

	begin(bench, START_RESETTING);
	bench->now_ns += 30 * US - 1;
	bench_status(bench);
	assert_int_equal(bench->facts.rule, CHIP_RULE_RESET);
	bench->now_ns += 1;
	bench_status(bench);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void erasing_part_is_busy_with_its_smallest_erase(void **state)
{
	struct bench *bench = *state;

	begin(bench, START_ERASING);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	assert_int_equal(bench->facts.work_ns, 45 * MS);
	assert_int_equal(bench_status(bench), STATUS_BUSY_AND_ENABLED);
	bench->now_ns += 45 * MS;
	assert_int_equal(bench_status(bench), 0);
}

static void suspending_part_can_be_asked_and_does_nothing_else_yet(void **state)
{
	struct bench *bench = *state;

	begin(bench, START_SUSPENDING);
	assert_int_equal(bench_status(bench) & 0x01, 0x01);
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_SUSPEND);
	bench->now_ns += 20 * US;
	assert_int_equal(bench_register(bench, 0x35), 0x80);
}

static void suspended_part_is_idle_and_goes_on_for_the_whole_time_when_resumed(void **state)
{
	static const enum start_state suspended[] = {
		START_ERASE_SUSPENDED, START_PROGRAM_SUSPENDED};
	struct bench *bench = *state;

	for (size_t i = 0; i < 2; i++) {
		begin(bench, suspended[i]);
		assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
		assert_int_equal(bench_status(bench), 0);
		assert_int_equal(bench_register(bench, 0x35), 0x80);
		bench_op(bench, 0x7A, 0);
		assert_int_equal(bench->facts.work_ns, i == 0 ? 45 * MS : 700 * US);
		bench->now_ns += 45 * MS;
		assert_int_equal(bench_register(bench, 0x35), 0);
	}
}

static void deaf_part_stays_suspended_until_it_is_reset(void **state)
{
	struct bench *bench = *state;

	begin(bench, START_DEAF_SUSPENDED);
	bench_op(bench, 0x7A, 0);
	assert_int_equal(bench_register(bench, 0x35), 0x80);
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
	bench->now_ns += 30 * US;
	assert_int_equal(bench_register(bench, 0x35), 0);
}

static void enabled_and_protected_parts_show_it_in_their_status(void **state)
{
	struct bench *bench = *state;

	begin(bench, START_WRITE_ENABLED);
	assert_int_equal(bench_status(bench), 0x02);
	bench_op(bench, 0x04, 0);
	begin(bench, START_PROTECTED);
	assert_int_equal(bench_status(bench), 0x1C);
}

static void every_part_begins_in_each_state_that_fits_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < part_table_count; i++) {
		for (int which = START_READY; which <= START_PROTECTED; which++) {
			struct bench bench;

			if (!start_state_fits((enum start_state)which, &part_table[i]))
				continue;
			bench_init(&bench, part_table[i].name, "max");
			begin(&bench, (enum start_state)which);
			bench_deinit(&bench);
		}
	}
}

static void parts_that_lack_a_command_or_a_bus_do_not_fit(void **state)
{
	(void)state;
	assert_false(start_state_fits(START_ASLEEP, part_find("SST39SF040")));
	assert_false(start_state_fits(START_ERASE_SUSPENDED, part_find("MX25L6406E")));
	assert_true(start_state_fits(START_READY, part_find("SST39SF040")));
	assert_true(start_state_fits(START_ASLEEP, part_find("MX25L6406E")));
}

static void names_are_read_as_they_are_written_and_no_others(void **state)
{
	enum start_state read = START_PROTECTED;

	(void)state;
	for (int which = START_READY; which <= START_PROTECTED; which++) {
		assert_int_equal(
			start_state_parse(start_state_name((enum start_state)which), &read), 0);
		assert_int_equal(read, which);
	}
	assert_true(start_state_parse("sleeping", &read) < 0);
	assert_true(start_state_parse("", &read) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q128jv, sleeping_part_is_silent_until_it_is_woken_and_waited_for),
		WITH(w25q128jv, fresh_part_owes_power_up_times_from_then_on),
		WITH(w25q128jv, part_is_not_there_until_its_supply_is_up_and_owes_nothing_then),
		WITH(w25q128jv, ramps_differ_in_their_length),
		WITH(w25q128jv, resetting_part_hears_nothing_for_as_long_as_a_reset_takes),
		WITH(w25q128jv, erasing_part_is_busy_with_its_smallest_erase),
		WITH(w25q128jv, suspending_part_can_be_asked_and_does_nothing_else_yet),
		WITH(w25q128jv, suspended_part_is_idle_and_goes_on_for_the_whole_time_when_resumed),
		WITH(w25q128jv, deaf_part_stays_suspended_until_it_is_reset),
		WITH(w25q128jv, enabled_and_protected_parts_show_it_in_their_status),
		cmocka_unit_test(every_part_begins_in_each_state_that_fits_it),
		cmocka_unit_test(parts_that_lack_a_command_or_a_bus_do_not_fit),
		cmocka_unit_test(names_are_read_as_they_are_written_and_no_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
