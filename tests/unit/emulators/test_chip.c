/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Busy times and the margins of clients that wait for them; a part that never gets ready. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

BENCH_SET_UP(w25q128jv, "W25Q128JV")

static void status_read_during_erase_reports_busy(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0x1000);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	assert_int_equal(bench->facts.work_ns, 45 * MS);
	assert_int_equal(bench_status(bench), STATUS_BUSY_AND_ENABLED);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_false(bench->facts.owed);
	assert_int_equal(bench->facts.busy_left_ns, 45 * MS);
}

static void read_during_erase_is_ignored_and_convicted(void **state)
{
	struct bench *bench = *state;
	uint8_t zero = 0;

	bench_program(bench, 0x2000, &zero, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x20, 0x1000);
	bench->now_ns += 5 * MS;
	assert_int_equal(bench_read(bench, 0x2000), 0xFF);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	assert_true(bench->facts.owed);
	assert_int_equal(bench->facts.margin_ns, -(int64_t)(40 * MS));
	assert_int_equal(bench->facts.grade, GRADE_DATASHEET);
}

static void command_one_ns_before_the_end_is_convicted(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0);
	bench->now_ns += 45 * MS - 1;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench->facts.margin_ns, -1);
	assert_int_equal(bench->facts.busy_left_ns, 1);
	assert_int_equal(bench_status(bench), STATUS_BUSY_AND_ENABLED);
}

static void command_at_the_end_is_not_convicted(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0);
	bench->now_ns += 45 * MS;
	assert_int_equal(bench_status(bench), 0x00);
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_true(bench->facts.owed);
	assert_int_equal(bench->facts.margin_ns, 0);
	assert_int_equal(bench->reply[0], 0xEF);
}

static void margin_is_reported_once_a_wait(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x9F, 3);
	assert_false(bench->facts.owed);
	bench_erase_at(bench, 0x20, 0);
	bench->now_ns += 50 * MS;
	bench_op(bench, 0x9F, 3);
	assert_true(bench->facts.owed);
	assert_int_equal(bench->facts.margin_ns, 5 * MS);
	bench_op(bench, 0x9F, 3);
	assert_false(bench->facts.owed);
}

static void early_command_leaves_the_wait_owed(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0);
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	bench->now_ns += 45 * MS + 7;
	bench_op(bench, 0x9F, 3);
	assert_true(bench->facts.owed);
	assert_int_equal(bench->facts.margin_ns, 7);
}

static void transfer_with_wire_time_is_busy_from_its_end(void **state)
{
	struct bench *bench = *state;
	uint8_t erase[] = {0x20, 0, 0, 0};
	struct chip_transfer transfer = {
		.start_ns = bench->now_ns,
		.end_ns = bench->now_ns + 100 * US,
		.command = erase,
		.command_len = sizeof(erase),
		.reply = bench->reply,
	};

	bench_op(bench, 0x06, 0);
	chip_transfer(&bench->chip, &transfer, &bench->facts);
	assert_int_equal(bench->facts.busy_until_ns, transfer.end_ns + 45 * MS);
}

static void erase_changes_nothing_before_it_is_done(void **state)
{
	struct bench *bench = *state;
	uint8_t zero = 0;
	uint8_t byte;

	bench_program(bench, 0, &zero, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x20, 0);
	chip_settle(&bench->chip, bench->chip.busy_until_ns - 1);
	array_read(&bench->chip.array, 0, &byte, 1);
	assert_int_equal(byte, 0x00);
	chip_settle(&bench->chip, bench->chip.busy_until_ns);
	array_read(&bench->chip.array, 0, &byte, 1);
	assert_int_equal(byte, 0xFF);
}

static void same_commands_at_same_times_give_same_facts(void **state)
{
	struct chip_facts traces[2][6];

	(void)state;
	for (size_t run = 0; run < 2; run++) {
		struct bench bench;
		uint8_t data[] = {1, 2, 3};

		bench_init(&bench, "GD25Q16C", "typ");
		for (size_t i = 0; i < 6; i++) {
			bench_program(&bench, (uint32_t)i * 100, data, sizeof(data));
			bench.now_ns += i * 17 * US;
			traces[run][i] = bench.facts;
		}
		bench_deinit(&bench);
	}
	assert_memory_equal(traces[0], traces[1], sizeof(traces[0]));
}

/* Makes the part stick from its second busy time on; the first one ends as usual. */
static void stick_at_second_program(struct bench *bench)
{
	bench_init(bench, "W25Q128JV", "typ");
	chip_stick_from(&bench->chip, 2);
	bench_program(bench, 0, (const uint8_t *)"\x11", 1);
	assert_int_equal(bench->facts.stuck_nth, 0);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench) & 0x01, 0);
	bench_program(bench, 256, (const uint8_t *)"\x22", 1);
	assert_int_equal(bench->facts.stuck_nth, 2);
}

static void stuck_part_is_busy_for_ever_and_no_command_is_too_early_for_it(void **state)
{
	struct bench bench;

	(void)state;
	stick_at_second_program(&bench);
	bench_finish_work(&bench);
	assert_int_equal(bench_read(&bench, 0), 0xFF);
	assert_int_equal(bench.facts.rule, CHIP_RULE_STUCK);
	assert_false(bench.facts.owed);
	assert_int_equal(bench.facts.busy_left_ns, 0);
	bench.now_ns += 3600 * 1000 * MS;
	assert_int_equal(bench_status(&bench) & 0x01, 0x01);
	assert_int_equal(bench.facts.rule, CHIP_RULE_NONE);
	bench_deinit(&bench);
}

static void command_before_a_stuck_part_should_be_ready_is_too_early_as_ever(void **state)
{
	struct bench bench;

	(void)state;
	stick_at_second_program(&bench);
	bench_finish_work(&bench);
	bench.now_ns -= 1;
	(void)bench_read(&bench, 0);
	assert_int_equal(bench.facts.rule, CHIP_RULE_BUSY);
	assert_true(bench.facts.owed);
	assert_int_equal(bench.facts.margin_ns, -1);
	bench_deinit(&bench);
}

static void reset_frees_a_stuck_part_until_its_next_work(void **state)
{
	struct bench bench;

	(void)state;
	stick_at_second_program(&bench);
	bench_finish_work(&bench);
	bench_op(&bench, 0x66, 0);
	bench_op(&bench, 0x99, 0);
	bench.now_ns += 1000 * MS;
	assert_int_equal(bench_status(&bench) & 0x01, 0);
	assert_int_equal(bench_read(&bench, 0), 0x11);
	bench_program(&bench, 512, (const uint8_t *)"\x33", 1);
	bench.now_ns += 1000 * MS;
	assert_int_equal(bench_status(&bench) & 0x01, 0x01);
	bench_deinit(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q128jv, status_read_during_erase_reports_busy),
		WITH(w25q128jv, read_during_erase_is_ignored_and_convicted),
		WITH(w25q128jv, command_one_ns_before_the_end_is_convicted),
		WITH(w25q128jv, command_at_the_end_is_not_convicted),
		WITH(w25q128jv, margin_is_reported_once_a_wait),
		WITH(w25q128jv, early_command_leaves_the_wait_owed),
		WITH(w25q128jv, transfer_with_wire_time_is_busy_from_its_end),
		WITH(w25q128jv, erase_changes_nothing_before_it_is_done),
		cmocka_unit_test(same_commands_at_same_times_give_same_facts),
		cmocka_unit_test(stuck_part_is_busy_for_ever_and_no_command_is_too_early_for_it),
		cmocka_unit_test(command_before_a_stuck_part_should_be_ready_is_too_early_as_ever),
		cmocka_unit_test(reset_frees_a_stuck_part_until_its_next_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
