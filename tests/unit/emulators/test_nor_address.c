/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of four bytes, and registers that replace the fourth byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

BENCH_SET_UP(w25q256jv, "W25Q256JV")
BENCH_SET_UP(s25fl128l, "S25FL128L")
BENCH_SET_UP(mx25l25635f, "MX25L25635F")
BENCH_SET_UP(s25fl256s, "S25FL256S_64K")

static void program4(struct bench *bench, uint32_t address, uint8_t value)
{
	uint8_t command[] = {0x12, (uint8_t)(address >> 24), (uint8_t)(address >> 16),
		(uint8_t)(address >> 8), (uint8_t)address, value};

	bench_op(bench, 0x06, 0);
	bench_send(bench, command, sizeof(command), 0);
	bench_finish_work(bench);
}

static uint8_t read4(struct bench *bench, uint32_t address)
{
	bench_op_at4(bench, 0x13, address, 1);
	return bench->reply[0];
}

static void four_byte_opcodes_reach_the_upper_half_in_any_mode(void **state)
{
	struct bench *bench = *state;

	program4(bench, 0x1234567, 0x5A);
	assert_int_equal(read4(bench, 0x1234567), 0x5A);
	assert_int_equal(bench_read(bench, 0x234567), 0xFF);
	bench_op(bench, 0x06, 0);
	bench_op_at4(bench, 0x21, 0x1234000, 0);
	assert_int_equal(bench->facts.address, 0x1234000);
	bench_finish_work(bench);
	assert_int_equal(read4(bench, 0x1234567), 0xFF);
}

static void address_mode_changes_what_a_read_takes(void **state)
{
	struct bench *bench = *state;

	program4(bench, 0x1000000, 0x5A);
	bench_op(bench, 0xB7, 0);
	bench_op_at4(bench, 0x03, 0x1000000, 1);
	assert_int_equal(bench->reply[0], 0x5A);
	bench_op_at(bench, 0x03, 0, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_LENGTH);
	bench_op(bench, 0xE9, 0);
	bench_op_at(bench, 0x03, 0, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->reply[0], 0xFF);
}

static void address_mode_shows_in_its_register(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(bench_register(bench, 0x15) & 0x01, 0);
	bench_op(bench, 0xB7, 0);
	assert_int_equal(bench_register(bench, 0x15) & 0x01, 1);
}

static void reset_leaves_four_byte_mode(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB7, 0);
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
	bench->now_ns += 30 * US;
	bench_op_at(bench, 0x03, 0, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

/* The array needs no fourth byte, but the part has commands with one. */
static void s25fl128l_takes_four_address_bytes_by_mode_and_by_opcode(void **state)
{
	struct bench *bench = *state;

	program4(bench, 0x12345, 0x5A);
	bench_op_at4(bench, 0x13, 0x12345, 1);
	assert_int_equal(bench->reply[0], 0x5A);
	bench_op(bench, 0xB7, 0);
	assert_int_equal(bench_register(bench, 0x15), 0x01);
	bench_op_at4(bench, 0x03, 0x12345, 1);
	assert_int_equal(bench->reply[0], 0x5A);
	bench_op(bench, 0x06, 0);
	bench_op_at4(bench, 0x53, 0x12345, 0);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	bench_finish_work(bench);
	bench_op(bench, 0xE9, 0);
	assert_int_equal(bench_read(bench, 0x12345), 0xFF);
}

static void extended_address_register_stands_for_the_fourth_byte(void **state)
{
	struct bench *bench = *state;
	uint8_t high = 0x01;

	program4(bench, 0x1000000, 0x5A);
	bench_send(bench, (uint8_t[]){0xC5, 0x01}, 2, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
	bench_write_register(bench, 0xC5, &high, 1);
	assert_int_equal(bench_register(bench, 0xC8), 0x01);
	assert_int_equal(bench_read(bench, 0), 0x5A);
	assert_int_equal(bench->facts.address, 0x1000000);
}

static void bank_register_stands_for_the_fourth_byte_and_sets_the_mode(void **state)
{
	struct bench *bench = *state;

	program4(bench, 0x1000000, 0x5A);
	bench_send(bench, (uint8_t[]){0x17, 0x01}, 2, 0);
	assert_int_equal(bench_register(bench, 0x16), 0x01);
	assert_int_equal(bench_read(bench, 0), 0x5A);
	bench_send(bench, (uint8_t[]){0x17, 0x80}, 2, 0);
	assert_int_equal(bench_register(bench, 0x16), 0x80);
	bench_op_at4(bench, 0x03, 0x1000000, 1);
	assert_int_equal(bench->reply[0], 0x5A);
}

static void bank_access_opens_01h_for_one_command(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	assert_string_equal(bench->facts.name, "BRAC");
	bench_send(bench, (uint8_t[]){0x01, 0x01}, 2, 0);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
	assert_int_equal(bench_register(bench, 0x16), 0x01);
	bench_send(bench, (uint8_t[]){0x01, 0x00}, 2, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q256jv, four_byte_opcodes_reach_the_upper_half_in_any_mode),
		WITH(w25q256jv, address_mode_changes_what_a_read_takes),
		WITH(w25q256jv, address_mode_shows_in_its_register),
		WITH(w25q256jv, reset_leaves_four_byte_mode),
		WITH(s25fl128l, s25fl128l_takes_four_address_bytes_by_mode_and_by_opcode),
		WITH(mx25l25635f, extended_address_register_stands_for_the_fourth_byte),
		WITH(s25fl256s, bank_register_stands_for_the_fourth_byte_and_sets_the_mode),
		WITH(s25fl256s, bank_access_opens_01h_for_one_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
