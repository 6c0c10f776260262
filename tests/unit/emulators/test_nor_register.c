/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers by their address, and the small sectors that one of them switches off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

#define STORED 0x000004
#define IN_FORCE 0x800004
#define UNIFORM 0x08

BENCH_SET_UP(s25fs128s, "S25FS128S")

static uint8_t read_at(struct bench *bench, uint32_t address)
{
	uint8_t command[] = {
		0x65, (uint8_t)(address >> 16), (uint8_t)(address >> 8), (uint8_t)address, 0};

	bench_send(bench, command, sizeof(command), 1);
	return bench->reply[0];
}

static void write_at(struct bench *bench, uint32_t address, uint8_t value)
{
	uint8_t command[] = {
		0x71, (uint8_t)(address >> 16), (uint8_t)(address >> 8), (uint8_t)address, value};

	bench_op(bench, 0x06, 0);
	bench_send(bench, command, sizeof(command), 0);
}

static void reset(struct bench *bench)
{
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
}

static void write_without_write_enable_is_convicted(void **state)
{
	struct bench *bench = *state;

	bench_send(bench, (uint8_t[]){0x71, 0x80, 0x00, 0x04, UNIFORM}, 5, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
	assert_int_equal(read_at(bench, IN_FORCE), 0);
}

static void what_is_in_force_changes_at_once_and_is_lost_by_a_reset(void **state)
{
	struct bench *bench = *state;

	write_at(bench, IN_FORCE, UNIFORM);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
	assert_int_equal(read_at(bench, IN_FORCE), UNIFORM);
	assert_int_equal(read_at(bench, STORED), 0);
	reset(bench);
	bench->now_ns += 35 * US;
	assert_int_equal(read_at(bench, IN_FORCE), 0);
}

static void what_is_stored_takes_its_time_and_effect_by_a_reset(void **state)
{
	struct bench *bench = *state;

	write_at(bench, STORED, UNIFORM);
	assert_int_equal(bench->facts.work, CHIP_WORK_WRITE_STATUS);
	assert_int_equal(bench_status(bench), STATUS_BUSY_AND_ENABLED);
	bench_finish_work(bench);
	assert_int_equal(read_at(bench, STORED), UNIFORM);
	assert_int_equal(read_at(bench, IN_FORCE), 0);
	reset(bench);
	bench->now_ns += 35 * US;
	assert_int_equal(read_at(bench, IN_FORCE), UNIFORM);
}

static void command_within_the_reset_is_convicted(void **state)
{
	struct bench *bench = *state;

	reset(bench);
	bench->now_ns += 35 * US - 1;
	assert_int_equal(read_at(bench, STORED), 0xFF);
	assert_int_equal(bench->facts.rule, CHIP_RULE_RESET);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	assert_int_equal(read_at(bench, STORED), 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

/* A driver that takes eight clocks of latency for eight bytes still reads the register. */
static void register_is_read_over_and_over(void **state)
{
	struct bench *bench = *state;
	const uint8_t command[12] = {0x65, 0x00, 0x00, 0x03};

	bench_send(bench, command, sizeof(command), 2);
	assert_int_equal(bench->reply[0], 0x08);
	assert_int_equal(bench->reply[1], 0x08);
}

static void register_that_does_not_exist_is_zeros_and_not_written(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(read_at(bench, 0x000040), 0);
	write_at(bench, 0x000040, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_REGION);
}

/* A status register write stores what it wrote, and nothing else that is in force. */
static void status_write_does_not_store_what_is_only_in_force(void **state)
{
	struct bench *bench = *state;

	write_at(bench, IN_FORCE, UNIFORM);
	bench_write_register(bench, 0x01, (uint8_t[]){0x1C}, 1);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0x1C);
	assert_int_equal(read_at(bench, STORED), 0);
	assert_int_equal(read_at(bench, IN_FORCE), UNIFORM);
}

static void program_zeros(struct bench *bench, uint32_t address)
{
	bench_program(bench, address, (uint8_t[]){0}, 1);
	bench_finish_work(bench);
}

static void erase_of_a_whole_sector_leaves_its_small_ones_alone(void **state)
{
	struct bench *bench = *state;

	program_zeros(bench, 0x7FFF);
	program_zeros(bench, 0x8000);
	program_zeros(bench, 0xFFFF);
	bench_erase_at(bench, 0xD8, 0x0000);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0x7FFF), 0x00);
	assert_int_equal(bench_read(bench, 0x8000), 0xFF);
	assert_int_equal(bench_read(bench, 0xFFFF), 0xFF);
	bench_erase_at(bench, 0x20, 0x7000);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0x7FFF), 0xFF);
}

static void uniform_sectors_have_no_small_ones(void **state)
{
	struct bench *bench = *state;

	write_at(bench, IN_FORCE, UNIFORM);
	program_zeros(bench, 0x0000);
	bench_erase_at(bench, 0x20, 0x0000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_REGION);
	bench_erase_at(bench, 0xD8, 0x0000);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0x0000), 0xFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(s25fs128s, write_without_write_enable_is_convicted),
		WITH(s25fs128s, what_is_in_force_changes_at_once_and_is_lost_by_a_reset),
		WITH(s25fs128s, what_is_stored_takes_its_time_and_effect_by_a_reset),
		WITH(s25fs128s, command_within_the_reset_is_convicted),
		WITH(s25fs128s, register_is_read_over_and_over),
		WITH(s25fs128s, register_that_does_not_exist_is_zeros_and_not_written),
		WITH(s25fs128s, status_write_does_not_store_what_is_only_in_force),
		WITH(s25fs128s, erase_of_a_whole_sector_leaves_its_small_ones_alone),
		WITH(s25fs128s, uniform_sectors_have_no_small_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
