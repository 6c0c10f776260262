/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

BENCH_SET_UP(w25q128jv, "W25Q128JV")

static void suspended_erase_lets_reads_through_and_goes_on_where_it_was(void **state)
{
	struct bench *bench = *state;
	uint8_t zero = 0;

	bench_program(bench, 0, &zero, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0xD8, 0);
	bench->now_ns += 50 * MS;
	bench_op(bench, 0x75, 0);
	bench->now_ns += 20 * US - 1;
	assert_int_equal(bench_status(bench) & 0x01, 0x01);
	bench_read(bench, 0x20000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_SUSPEND);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	assert_int_equal(bench_status(bench), 0x00);
	assert_int_equal(bench_register(bench, 0x35), 0x80);
	assert_int_equal(bench_read(bench, 0), 0x00);
	bench_op(bench, 0x7A, 0);
	assert_int_equal(bench->facts.work_ns, 100 * MS);
	bench->now_ns += 100 * MS - 1;
	assert_int_equal(bench_status(bench), 0x01);
	bench->now_ns += 1;
	assert_int_equal(bench_status(bench), 0x00);
	assert_int_equal(bench_register(bench, 0x35), 0x00);
	assert_int_equal(bench_read(bench, 0), 0xFF);
}

static void suspended_erase_refuses_erases_and_programs_of_its_block(void **state)
{
	struct bench *bench = *state;
	uint8_t zero = 0;

	bench_erase_at(bench, 0xD8, 0);
	bench_op(bench, 0x75, 0);
	bench->now_ns += 20 * US;
	bench_erase_at(bench, 0x20, 0x20000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_SUSPENDED);
	bench_program(bench, 0xFFFF, &zero, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_SUSPENDED);
	bench_program(bench, 0x10000, &zero, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void suspend_of_an_idle_part_does_nothing(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x75, 0);
	bench_op(bench, 0x9F, 3);
	assert_false(bench->facts.owed);
	bench_op(bench, 0x7A, 0);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
}

static void chip_erase_cannot_be_suspended(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x06, 0);
	bench_op(bench, 0xC7, 0);
	bench_op(bench, 0x75, 0);
	bench->now_ns += 1 * MS;
	bench_read(bench, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q128jv, suspended_erase_lets_reads_through_and_goes_on_where_it_was),
		WITH(w25q128jv, suspended_erase_refuses_erases_and_programs_of_its_block),
		WITH(w25q128jv, suspend_of_an_idle_part_does_nothing),
		WITH(w25q128jv, chip_erase_cannot_be_suspended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
