/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

#define STATUS_BUSY_AND_ENABLED 0x03

BENCH_SET_UP(w25q128jv, "W25Q128JV")
BENCH_SET_UP(w25q64fv, "W25Q64FV")
BENCH_SET_UP(m25p80, "M25P80")

static void identity_is_the_parts_own(void **state)
{
	static const uint8_t rdid[] = {0xEF, 0x40, 0x18};
	struct bench *bench = *state;

	bench_op(bench, 0x9F, 3);
	assert_memory_equal(bench->reply, rdid, sizeof(rdid));
	bench_op_at(bench, 0x90, 0, 2);
	assert_int_equal(bench->reply[0], 0xEF);
	assert_int_equal(bench->reply[1], 0x17);
	bench_op_at(bench, 0x90, 1, 2);
	assert_int_equal(bench->reply[0], 0x17);
	bench_op_at(bench, 0xAB, 0, 1);
	assert_int_equal(bench->reply[0], 0x17);
	assert_string_equal(bench->facts.name, "RES");
}

static void command_that_the_part_lacks_floats_and_is_no_violation(void **state)
{
	struct bench *bench = *state;

	bench_op_at(bench, 0x90, 0, 2); /* M25P80 has no REMS */
	assert_string_equal(bench->facts.name, "UNKNOWN");
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->reply[0], 0xFF);
	bench_erase_at(bench, 0x20, 0); /* nor a 4 KiB erase */
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
}

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

static void program_past_the_page_end_wraps_inside_the_page(void **state)
{
	static const uint8_t data[] = {0x11, 0x22, 0x33};
	struct bench *bench = *state;

	bench_program(bench, 0x1FE, data, sizeof(data));
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0x1FE), 0x11);
	assert_int_equal(bench_read(bench, 0x1FF), 0x22);
	assert_int_equal(bench_read(bench, 0x100), 0x33);
	assert_int_equal(bench_read(bench, 0x200), 0xFF);
}

static void program_of_more_than_a_page_keeps_the_last_bytes(void **state)
{
	struct bench *bench = *state;
	uint8_t data[257];

	memset(data, 0x11, sizeof(data));
	data[256] = 0x77;
	bench_program(bench, 0x100, data, sizeof(data));
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0x100), 0x77);
	assert_int_equal(bench_read(bench, 0x101), 0x11);
}

static void program_twice_clears_bits_and_sets_none(void **state)
{
	static const uint8_t first = 0xF0;
	static const uint8_t second = 0x3C;
	struct bench *bench = *state;

	bench_program(bench, 5, &first, 1);
	bench_finish_work(bench);
	bench_program(bench, 5, &second, 1);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 5), 0x30);
}

static void program_of_few_bytes_takes_the_byte_times_where_given(void **state)
{
	struct bench *bench = *state;
	uint8_t data[256] = {0};

	bench_program(bench, 0, data, 1);
	assert_int_equal(bench->facts.work_ns, 20 * US);
	bench_finish_work(bench);
	bench_program(bench, 0, data, 3);
	assert_int_equal(bench->facts.work_ns, 25 * US);
	bench_finish_work(bench);
	bench_program(bench, 0, data, 256);
	assert_int_equal(bench->facts.work_ns, 700 * US);
}

static void dummies_that_were_not_written_are_the_first_bytes_read(void **state)
{
	static const uint8_t data[] = {0x11, 0x22};
	struct bench *bench = *state;

	bench_program(bench, 0x100, data, sizeof(data));
	bench_finish_work(bench);
	bench_op_at(bench, 0x0B, 0x100, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_memory_equal(bench->reply, ((uint8_t[]){0xFF, 0x11, 0x22}), 3);
	bench_send(bench, (uint8_t[]){0x0B, 0, 1, 0, 0}, 5, 2);
	assert_memory_equal(bench->reply, data, 2);
	bench_op_at(bench, 0x0B, 0x100, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_send(bench, (uint8_t[]){0x0B, 0, 1}, 3, 4);
	assert_int_equal(bench->facts.rule, CHIP_RULE_LENGTH);
}

static void erase_takes_its_own_block_and_no_more(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t size_bytes;
	} erases[] = {{0x20, 0x1000}, {0x52, 0x8000}, {0xD8, 0x10000}};
	struct bench *bench = *state;
	uint8_t zero = 0;

	for (size_t i = 0; i < 3; i++) {
		uint32_t start = 0x20000;
		uint32_t last = start + erases[i].size_bytes - 1;

		for (int j = -1; j <= 1; j += 2) {
			bench_program(bench, j < 0 ? start - 1 : last + 1, &zero, 1);
			bench_finish_work(bench);
			bench_program(bench, j < 0 ? start : last, &zero, 1);
			bench_finish_work(bench);
		}
		bench_erase_at(bench, erases[i].opcode, start + 0x123);
		bench_finish_work(bench);
		assert_int_equal(bench_read(bench, start - 1), 0x00);
		assert_int_equal(bench_read(bench, start), 0xFF);
		assert_int_equal(bench_read(bench, last), 0xFF);
		assert_int_equal(bench_read(bench, last + 1), 0x00);
	}
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

static void chip_erase_by_either_opcode_erases_all(void **state)
{
	static const uint8_t opcodes[] = {0xC7, 0x60};
	struct bench *bench = *state;
	uint8_t zero = 0;

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		bench_program(bench, 0, &zero, 1);
		bench_finish_work(bench);
		bench_program(bench, 0xFFFFFF, &zero, 1);
		bench_finish_work(bench);
		bench_op(bench, 0x06, 0);
		bench_op(bench, opcodes[i], 0);
		assert_int_equal(bench->facts.work_ns, 40000 * MS);
		bench_finish_work(bench);
		assert_int_equal(bench_read(bench, 0), 0xFF);
		assert_int_equal(bench_read(bench, 0xFFFFFF), 0xFF);
	}
}

static void erase_with_a_byte_too_many_is_refused(void **state)
{
	struct bench *bench = *state;
	uint8_t command[] = {0x20, 0, 0, 0, 0};

	bench_op(bench, 0x06, 0);
	bench_send(bench, command, 5, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_LENGTH);
	bench_send(bench, command, 3, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_LENGTH);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
}

static void program_without_write_enable_is_ignored(void **state)
{
	struct bench *bench = *state;
	uint8_t command[] = {0x02, 0, 0, 0, 0x00};

	bench_send(bench, command, sizeof(command), 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
	assert_false(bench->facts.owed);
	assert_int_equal(bench_status(bench), 0x00);
	assert_int_equal(bench_read(bench, 0), 0xFF);
}

static void write_enable_is_seen_in_status_and_undone_by_disable(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.status, 0x02);
	assert_int_equal(bench_status(bench), 0x02);
	bench_op(bench, 0x04, 0);
	assert_int_equal(bench_status(bench), 0x00);
}

static void write_enable_ends_with_the_work(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0x00);
	bench_op_at(bench, 0x20, 0, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
}

static void write_enable_during_busy_is_ignored(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0);
	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0x00);
}

static void write_status(struct bench *bench, uint8_t value)
{
	uint8_t command[] = {0x01, value};

	bench_op(bench, 0x06, 0);
	bench_send(bench, command, sizeof(command), 0);
}

static void status_write_settles_when_its_time_is_over(void **state)
{
	struct bench *bench = *state;

	write_status(bench, 0xFF);
	assert_int_equal(bench->facts.work, CHIP_WORK_WRITE_STATUS);
	assert_int_equal(bench->facts.work_ns, 10 * MS);
	assert_int_equal(bench_status(bench), STATUS_BUSY_AND_ENABLED);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0xFC); /* WIP and WEL are not storage */
}

static void status_write_of_two_bytes_sets_the_second_register(void **state)
{
	struct bench *bench = *state;
	uint8_t command[] = {0x01, 0x00, 0x02};

	bench_op(bench, 0x06, 0);
	bench_send(bench, command, sizeof(command), 0);
	bench_finish_work(bench);
	bench_op(bench, 0x35, 1);
	assert_int_equal(bench->reply[0], 0x02);
}

static void status_write_of_too_many_bytes_is_refused(void **state)
{
	struct bench *bench = *state;
	uint8_t command[] = {0x01, 0x00, 0x02};

	bench_op(bench, 0x06, 0); /* M25P80 has one register */
	bench_send(bench, command, sizeof(command), 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_LENGTH);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
}

static void sleeping_part_hears_release_only(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	bench->now_ns += 3 * US;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_POWER_DOWN);
	assert_int_equal(bench->reply[0], 0xFF);
	bench_op(bench, 0xAB, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench->now_ns += 3 * US;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->reply[0], 0xEF);
}

static void release_within_tdp_is_convicted(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	bench->now_ns += 3 * US - 1;
	bench_op(bench, 0xAB, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_DEEP_POWER_DOWN);
	assert_int_equal(bench->facts.margin_ns, -1);
}

static void command_within_tres_is_convicted_even_a_status_read(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	bench->now_ns += 3 * US;
	bench_op(bench, 0xAB, 0);
	bench->now_ns += 3 * US - 1;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_RELEASE);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.margin_ns, 0);
}

static void release_with_id_owes_the_shorter_wait(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	bench->now_ns += 3 * US;
	bench_op_at(bench, 0xAB, 0, 1);
	assert_int_equal(bench->reply[0], 0x17);
	bench->now_ns += 1800;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.margin_ns, 0);
}

static void reset_without_enable_does_nothing(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x9F, 3);
	bench_op(bench, 0x99, 0);
	bench_op(bench, 0x9F, 3);
	assert_false(bench->facts.owed);
	assert_int_equal(bench->reply[0], 0xEF);
}

static void reset_during_erase_spoils_it_and_owes_its_wait(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0x1000);
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
	assert_int_equal(bench->facts.status, 0x00);
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_RESET);
	bench->now_ns += 30 * US;
	bench_op_at(bench, 0x03, 0x1000, 256);
	assert_non_null(memchr(bench->reply, 0x00, 256));
	assert_int_equal(bench_read(bench, 0x0FFF), 0xFF);
	assert_int_equal(bench_read(bench, 0x2000), 0xFF);
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

/* Told to stick from its second busy time on; the first one ends as ever. */
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
		WITH(w25q128jv, identity_is_the_parts_own),
		WITH(m25p80, command_that_the_part_lacks_floats_and_is_no_violation),
		WITH(w25q128jv, status_read_during_erase_reports_busy),
		WITH(w25q128jv, read_during_erase_is_ignored_and_convicted),
		WITH(w25q128jv, command_one_ns_before_the_end_is_convicted),
		WITH(w25q128jv, command_at_the_end_is_not_convicted),
		WITH(w25q128jv, margin_is_reported_once_a_wait),
		WITH(w25q128jv, early_command_leaves_the_wait_owed),
		WITH(w25q128jv, transfer_with_wire_time_is_busy_from_its_end),
		WITH(w25q128jv, program_past_the_page_end_wraps_inside_the_page),
		WITH(w25q128jv, program_of_more_than_a_page_keeps_the_last_bytes),
		WITH(w25q128jv, program_twice_clears_bits_and_sets_none),
		WITH(w25q64fv, program_of_few_bytes_takes_the_byte_times_where_given),
		WITH(w25q128jv, dummies_that_were_not_written_are_the_first_bytes_read),
		WITH(w25q128jv, erase_takes_its_own_block_and_no_more),
		WITH(w25q128jv, erase_changes_nothing_before_it_is_done),
		WITH(w25q128jv, chip_erase_by_either_opcode_erases_all),
		WITH(w25q128jv, erase_with_a_byte_too_many_is_refused),
		WITH(w25q128jv, program_without_write_enable_is_ignored),
		WITH(w25q128jv, write_enable_is_seen_in_status_and_undone_by_disable),
		WITH(w25q128jv, write_enable_ends_with_the_work),
		WITH(w25q128jv, write_enable_during_busy_is_ignored),
		WITH(w25q128jv, status_write_settles_when_its_time_is_over),
		WITH(w25q128jv, status_write_of_two_bytes_sets_the_second_register),
		WITH(m25p80, status_write_of_too_many_bytes_is_refused),
		WITH(w25q128jv, sleeping_part_hears_release_only),
		WITH(w25q128jv, release_within_tdp_is_convicted),
		WITH(w25q128jv, command_within_tres_is_convicted_even_a_status_read),
		WITH(w25q128jv, release_with_id_owes_the_shorter_wait),
		WITH(w25q128jv, reset_without_enable_does_nothing),
		WITH(w25q128jv, reset_during_erase_spoils_it_and_owes_its_wait),
		cmocka_unit_test(same_commands_at_same_times_give_same_facts),
		cmocka_unit_test(stuck_part_is_busy_for_ever_and_no_command_is_too_early_for_it),
		cmocka_unit_test(command_before_a_stuck_part_should_be_ready_is_too_early_as_ever),
		cmocka_unit_test(reset_frees_a_stuck_part_until_its_next_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
