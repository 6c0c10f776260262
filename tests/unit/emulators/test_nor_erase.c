/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

BENCH_SET_UP(w25q128jv, "W25Q128JV")
BENCH_SET_UP(mx25l6406e, "MX25L6406E")
BENCH_SET_UP(sst26vf064b, "SST26VF064B")
BENCH_SET_UP(s25fl256s, "S25FL256S_64K")
BENCH_SET_UP(p25q16h, "P25Q16H")

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

/* Erases that differ although they look alike. */

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q128jv, erase_takes_its_own_block_and_no_more),
		WITH(w25q128jv, chip_erase_by_either_opcode_erases_all),
		WITH(w25q128jv, erase_with_a_byte_too_many_is_refused),
		WITH(mx25l6406e, mx25l6406e_erases_64_kib_by_52h),
		WITH(sst26vf064b, sst26_erases_the_block_that_holds_the_address),
		WITH(s25fl256s, parameter_sectors_are_only_where_they_are),
		WITH(p25q16h, page_erase_takes_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
