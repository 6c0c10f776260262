/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench_cycles.h"

/* M50FW040 at its typical times. */
#define PROGRAM_NS (10 * US)
#define ERASE_NS (1000 * MS)
#define BUSY 0x7F /* only bit 7 is valid */

BENCH_SET_UP(m50fw040, "M50FW040")

static void unlock_block(struct bench *bench, uint32_t block)
{
	bench_write(bench, REGISTERS_512K + block * 0x10000 + 2, 0x00);
}

static void send(struct bench *bench, uint32_t address, uint8_t value)
{
	bench_write(bench, ARRAY_512K + address, value);
}

static uint8_t get(struct bench *bench, uint32_t address)
{
	return bench_get(bench, ARRAY_512K + address);
}

static void program_by_either_command_is_polled_by_its_status(void **state)
{
	static const uint8_t commands[] = {0x40, 0x10};
	struct bench *bench = *state;

	unlock_block(bench, 0);
	for (uint32_t i = 0; i < 2; i++) {
		send(bench, 0x100 + i, commands[i]);
		assert_true(bench->facts.partial);
		send(bench, 0x100 + i, 0x5A);
		assert_int_equal(bench->facts.work, CHIP_WORK_PROGRAM);
		assert_int_equal(bench->facts.work_ns, PROGRAM_NS);
		bench->now_ns = bench->chip.busy_until_ns - 1;
		assert_int_equal(get(bench, 0x100), BUSY);
		assert_int_equal(get(bench, 0x100), 0x80);
		assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
		assert_string_equal(bench->facts.name, "STATUS");
	}
	send(bench, 0, 0xFF);
	assert_int_equal(get(bench, 0x100), 0x5A);
	assert_int_equal(get(bench, 0x101), 0x5A);
}

static void block_erase_needs_its_confirmation(void **state)
{
	struct bench *bench = *state;

	unlock_block(bench, 1);
	send(bench, 0x10000, 0x40);
	send(bench, 0x10000, 0x00);
	bench_finish_work(bench);
	send(bench, 0x12345, 0x20);
	send(bench, 0x12345, 0xFF);
	assert_int_equal(bench->facts.rule, CHIP_RULE_SEQUENCE);
	assert_int_equal(get(bench, 0), 0xB0);
	send(bench, 0, 0x50);
	assert_int_equal(get(bench, 0), 0x80);
	send(bench, 0x12345, 0x20);
	send(bench, 0x12345, 0xD0);
	assert_int_equal(bench->facts.work_ns, ERASE_NS);
	bench_finish_work(bench);
	send(bench, 0, 0xFF);
	assert_int_equal(get(bench, 0x10000), 0xFF);
}

static void command_one_ns_before_the_end_is_ignored_and_convicted(void **state)
{
	struct bench *bench = *state;

	unlock_block(bench, 0);
	send(bench, 0x100, 0x40);
	send(bench, 0x100, 0x00);
	bench->now_ns = bench->chip.busy_until_ns - 1;
	send(bench, 0, 0xFF);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench->facts.margin_ns, -1);
	assert_int_equal(get(bench, 0x100), 0x80); /* the array is not visible yet */
	send(bench, 0, 0xFF);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(get(bench, 0x100), 0x00);
}

static void command_at_the_end_is_in_time(void **state)
{
	struct bench *bench = *state;

	unlock_block(bench, 0);
	send(bench, 0x100, 0x40);
	send(bench, 0x100, 0x00);
	bench_finish_work(bench);
	send(bench, 0, 0xFF);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_true(bench->facts.owed);
	assert_int_equal(bench->facts.margin_ns, 0);
}

static void status_may_be_asked_for_while_busy(void **state)
{
	struct bench *bench = *state;

	unlock_block(bench, 0);
	send(bench, 0x100, 0x20);
	send(bench, 0x100, 0xD0);
	send(bench, 0x100, 0x70);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_false(bench->facts.owed);
	assert_int_equal(get(bench, 0x100), BUSY);
}

static void locked_block_fails_with_its_status(void **state)
{
	struct bench *bench = *state;

	send(bench, 0x70000, 0x40);
	send(bench, 0x70000, 0x00);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	assert_int_equal(get(bench, 0x70000), 0x92);
	send(bench, 0, 0x50);
	send(bench, 0x70000, 0x20);
	send(bench, 0x70000, 0xD0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	assert_int_equal(get(bench, 0x70000), 0xA2);
	send(bench, 0, 0xFF);
	assert_int_equal(get(bench, 0x70000), 0xFF);
}

static void lock_register_that_is_locked_down_stays(void **state)
{
	struct bench *bench = *state;

	bench_write(bench, REGISTERS_512K + 0x30002, 0x03);
	bench_write(bench, REGISTERS_512K + 0x30002, 0x00);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	assert_int_equal(bench_get(bench, REGISTERS_512K + 0x30002), 0x03);
	assert_int_equal(bench_get(bench, REGISTERS_512K + 0x20002), 0x01);
}

static void power_that_comes_back_locks_every_block(void **state)
{
	struct bench *bench = *state;

	unlock_block(bench, 0);
	bench_write(bench, REGISTERS_512K + 0x30002, 0x02);
	chip_power_cycle(&bench->chip, bench->now_ns);
	assert_int_equal(bench_get(bench, REGISTERS_512K + 2), 0x01);
	assert_int_equal(bench_get(bench, REGISTERS_512K + 0x30002), 0x01);
}

static void registers_answer_while_busy(void **state)
{
	struct bench *bench = *state;

	unlock_block(bench, 0);
	send(bench, 0x100, 0x20);
	send(bench, 0x100, 0xD0);
	assert_int_equal(bench_get(bench, REGISTERS_512K + 2), 0x00);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_false(bench->facts.owed);
}

static void reads_in_a_row_cross_from_registers_to_the_array(void **state)
{
	struct bench *bench = *state;
	uint8_t byte = 0x12;
	uint8_t out[4];

	array_load(&bench->chip.array, 0, &byte, 1);
	bench_write(bench, REGISTERS_512K + 0x70002, 0x07);
	chip_read_cycles(&bench->chip, bench->now_ns, 0x3FFFFF, out, 2, &bench->facts);
	assert_int_equal(out[0], 0x00); /* the last register, then the first byte of the array */
	assert_int_equal(out[1], 0x12);
	assert_string_equal(bench->facts.name, "REGISTER");
	assert_int_equal(bench->facts.status, 0x12);
	chip_read_cycles(&bench->chip, bench->now_ns, 0xFFFFFFFF, out, 2, &bench->facts);
	assert_int_equal(out[0], 0xFF);
	assert_int_equal(out[1], 0x00);
}

static void reads_in_a_row_see_the_end_of_a_program(void **state)
{
	struct bench *bench = *state;
	uint64_t cycle_ns = bench->chip.part->parallel->cycle_ns;
	uint8_t out[4];

	unlock_block(bench, 0);
	send(bench, 0, 0x40);
	send(bench, 0, 0x00);
	chip_read_cycles(&bench->chip, bench->chip.busy_until_ns - 2 * cycle_ns, ARRAY_512K, out, 4,
		&bench->facts);
	assert_memory_equal(out, "\x7F\x7F\x80\x80", 4);
	assert_int_equal(bench->facts.busy_left_ns, 2 * cycle_ns);
	assert_int_equal(bench->facts.status, 0x80);
}

static void id_needs_no_wait_and_ends_with_the_next_command(void **state)
{
	struct bench *bench = *state;

	send(bench, 0, 0x90);
	assert_int_equal(get(bench, 0), 0x20);
	assert_int_equal(get(bench, 1), 0x2C);
	assert_false(bench->facts.owed);
	send(bench, 0, 0x70);
	assert_int_equal(get(bench, 0), 0x80);
	send(bench, 0, 0xFF);
	assert_int_equal(get(bench, 0), 0xFF);
	assert_int_equal(bench_get(bench, REGISTERS_512K + 0x40001), 0x2C);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(m50fw040, program_by_either_command_is_polled_by_its_status),
		WITH(m50fw040, block_erase_needs_its_confirmation),
		WITH(m50fw040, command_one_ns_before_the_end_is_ignored_and_convicted),
		WITH(m50fw040, command_at_the_end_is_in_time),
		WITH(m50fw040, status_may_be_asked_for_while_busy),
		WITH(m50fw040, locked_block_fails_with_its_status),
		WITH(m50fw040, lock_register_that_is_locked_down_stays),
		WITH(m50fw040, power_that_comes_back_locks_every_block),
		WITH(m50fw040, registers_answer_while_busy),
		WITH(m50fw040, reads_in_a_row_cross_from_registers_to_the_array),
		WITH(m50fw040, reads_in_a_row_see_the_end_of_a_program),
		WITH(m50fw040, id_needs_no_wait_and_ends_with_the_next_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
