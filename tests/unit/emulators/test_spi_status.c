/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Status registers: writes, what is stored, errors and flags.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

BENCH_SET_UP(w25q128jv, "W25Q128JV")
BENCH_SET_UP(m25p80, "M25P80")
BENCH_SET_UP(sst26vf064b, "SST26VF064B")
BENCH_SET_UP(s25fl256s, "S25FL256S_64K")
BENCH_SET_UP(n25q128, "N25Q128A13")

static void status_write_settles_when_its_time_is_over(void **state)
{
	struct bench *bench = *state;
	uint8_t all = 0xFF;

	bench_write_register(bench, 0x01, &all, 1);
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

static void volatile_status_is_at_once_and_lost_with_the_power(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x50, 0);
	bench_send(bench, (uint8_t[]){0x01, 0x1C}, 2, 0);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
	assert_int_equal(bench_status(bench), 0x1C);
	bench_send(bench, (uint8_t[]){0x01, 0x00}, 2, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 10 * MS;
	assert_int_equal(bench_status(bench), 0x00);
}

static void stored_status_survives_a_power_cycle(void **state)
{
	struct bench *bench = *state;
	uint8_t bits = 0x04;

	bench_write_register(bench, 0x01, &bits, 1);
	bench_finish_work(bench);
	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 10 * MS;
	assert_int_equal(bench_status(bench), 0x04);
}

static void sst26_is_busy_by_two_bits(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x98, 0);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench_status(bench), 0x83);
}

static void refused_write_holds_s25fl_until_its_error_is_cleared(void **state)
{
	struct bench *bench = *state;
	uint8_t all = 0x1C;
	uint8_t zero = 0;

	bench_write_register(bench, 0x01, &all, 1);
	bench_finish_work(bench);
	bench_program(bench, 0, &zero, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	assert_int_equal(bench_status(bench), 0x1C | 0x40 | 0x03);
	bench->now_ns += 1000 * MS;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_ERROR);
	assert_int_equal(bench->reply[0], 0xFF);
	bench_op(bench, 0x30, 0);
	bench_op(bench, 0x04, 0);
	assert_int_equal(bench_status(bench), 0x1C);
	bench_erase_at(bench, 0xD8, 0);
	assert_int_equal(bench_status(bench), 0x1C | 0x20 | 0x03);
	bench_op(bench, 0xF0, 0);
	bench->now_ns += 35 * US;
	assert_int_equal(bench_status(bench), 0x1C);
}

static void flag_status_says_ready_and_keeps_errors_until_cleared(void **state)
{
	struct bench *bench = *state;
	uint8_t all = 0x5C;

	assert_int_equal(bench_register(bench, 0x70), 0x80);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench_register(bench, 0x70), 0x00);
	bench_finish_work(bench);
	bench_write_register(bench, 0x01, &all, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	assert_int_equal(bench_register(bench, 0x70), 0x80 | 0x20 | 0x02);
	bench_op(bench, 0x50, 0);
	assert_int_equal(bench_register(bench, 0x70), 0x80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q128jv, status_write_settles_when_its_time_is_over),
		WITH(w25q128jv, status_write_of_two_bytes_sets_the_second_register),
		WITH(m25p80, status_write_of_too_many_bytes_is_refused),
		WITH(w25q128jv, volatile_status_is_at_once_and_lost_with_the_power),
		WITH(w25q128jv, stored_status_survives_a_power_cycle),
		WITH(sst26vf064b, sst26_is_busy_by_two_bits),
		WITH(s25fl256s, refused_write_holds_s25fl_until_its_error_is_cleared),
		WITH(n25q128, flag_status_says_ready_and_keeps_errors_until_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
