/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"
#include "model/spi.h"

/* What only some SPI NOR parts have; what all have is in test_chip.c. */
BENCH_SET_UP(w25q128jv, "W25Q128JV")
BENCH_SET_UP(mx25l6406e, "MX25L6406E")
BENCH_SET_UP(n25q128, "N25Q128A13")
BENCH_SET_UP(mt25ql128, "MT25QL128ABA")
BENCH_SET_UP(s25fl256s, "S25FL256S_64K")
BENCH_SET_UP(sst26vf064b, "SST26VF064B")
BENCH_SET_UP(p25q16h, "P25Q16H")

/* Errors and flags. */

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

/* Protection that is on when power comes. */

static void sst26_erases_the_block_that_holds_the_address(void **state)
{
	static const struct {
		uint32_t address;
		uint32_t begin;
		uint32_t size_bytes;
	} rows[] = {
		{0x0000, 0x0000, 0x2000},
		{0x7FFF, 0x6000, 0x2000},
		{0x8000, 0x8000, 0x8000},
		{0x1ABCD, 0x10000, 0x10000},
		{0x7EFFFF, 0x7E0000, 0x10000},
		{0x7F7FFF, 0x7F0000, 0x8000},
		{0x7F8000, 0x7F8000, 0x2000},
		{0x7FFFFF, 0x7FE000, 0x2000},
	};
	struct bench *bench = *state;

	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x98, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bench_erase_at(bench, 0xD8, rows[i].address);
		assert_int_equal(bench->chip.pending.address, rows[i].begin);
		assert_int_equal(bench->chip.pending.size_bytes, rows[i].size_bytes);
		bench_finish_work(bench);
		assert_int_equal(bench_status(bench), 0x00);
	}
}

static void sst26_is_busy_by_two_bits(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x98, 0);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench_status(bench), 0x83);
}

/* Erases that only look alike. */

static void mx25l6406e_erases_64_kib_by_52h(void **state)
{
	struct bench *bench = *state;
	uint8_t zero = 0;

	bench_program(bench, 0xFFFF, &zero, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x52, 0);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0xFFFF), 0xFF);
}

static void parameter_sectors_are_only_where_they_are(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0x1F123);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	assert_int_equal(bench->chip.pending.address, 0x1F000);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x20, 0x20000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_REGION);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
}

static void page_erase_takes_a_page(void **state)
{
	struct bench *bench = *state;
	uint8_t zero = 0;

	bench_program(bench, 0xFF, &zero, 1);
	bench_finish_work(bench);
	bench_program(bench, 0x100, &zero, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x81, 0);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0xFF), 0xFF);
	assert_int_equal(bench_read(bench, 0x100), 0x00);
}

/* Status registers. */

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

/* Power-up. */

static void command_within_tvsl_is_convicted(void **state)
{
	struct bench *bench = *state;

	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 20 * US - 1;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_SELECT);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.margin_ns, 0);
}

static void write_within_tpuw_is_convicted_and_a_read_is_not(void **state)
{
	struct bench *bench = *state;

	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 5 * MS - 1;
	bench_read(bench, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WRITE);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench_status(bench), 0x02);
}

/* Resets. */

static void reset_owes_the_wait_of_what_it_cut_off(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0);
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
	bench->now_ns += 500 * MS - 1;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_RESET);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
	bench->now_ns += 40;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.margin_ns, 0);
}

static void part_without_power_down_does_not_know_its_opcodes(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	assert_string_equal(bench->facts.name, "UNKNOWN");
	bench_op(bench, 0xAB, 0);
	assert_string_equal(bench->facts.name, "UNKNOWN");
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->reply[0], 0x20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(s25fl256s, refused_write_holds_s25fl_until_its_error_is_cleared),
		WITH(n25q128, flag_status_says_ready_and_keeps_errors_until_cleared),
		WITH(sst26vf064b, sst26_erases_the_block_that_holds_the_address),
		WITH(sst26vf064b, sst26_is_busy_by_two_bits),
		WITH(mx25l6406e, mx25l6406e_erases_64_kib_by_52h),
		WITH(s25fl256s, parameter_sectors_are_only_where_they_are),
		WITH(p25q16h, page_erase_takes_a_page),
		WITH(w25q128jv, volatile_status_is_at_once_and_lost_with_the_power),
		WITH(w25q128jv, stored_status_survives_a_power_cycle),
		WITH(w25q128jv, command_within_tvsl_is_convicted),
		WITH(w25q128jv, write_within_tpuw_is_convicted_and_a_read_is_not),
		WITH(mt25ql128, reset_owes_the_wait_of_what_it_cut_off),
		WITH(n25q128, part_without_power_down_does_not_know_its_opcodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
