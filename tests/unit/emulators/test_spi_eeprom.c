/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

BENCH_SET_UP(m95m02, "M95M02-DR")

static void write_replaces_bytes_without_an_erase(void **state)
{
	static const uint8_t zeros[] = {0x00, 0x00};
	static const uint8_t ones[] = {0xFF, 0x5A};
	struct bench *bench = *state;

	bench_program(bench, 0x100, zeros, 2);
	bench_finish_work(bench);
	bench_program(bench, 0x100, ones, 2);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0x100), 0xFF);
	assert_int_equal(bench_read(bench, 0x101), 0x5A);
}

static void write_past_the_page_end_wraps_and_keeps_the_others(void **state)
{
	static const uint8_t before[] = {0x10, 0x11};
	static const uint8_t data[] = {0x20, 0x21, 0x22};
	struct bench *bench = *state;

	bench_program(bench, 0x201, before, 2);
	bench_finish_work(bench);
	bench_program(bench, 0x2FE, data, 3);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0x2FF), 0x21);
	assert_int_equal(bench_read(bench, 0x200), 0x22);
	assert_int_equal(bench_read(bench, 0x201), 0x10);
	assert_int_equal(bench_read(bench, 0x300), 0xFF);
}

static void write_time_is_owed_to_the_nanosecond(void **state)
{
	struct bench bench;
	uint8_t byte = 0x77;

	(void)state;
	bench_init(&bench, "M95M02-DR", "max");
	bench_program(&bench, 0, &byte, 1);
	assert_int_equal(bench.facts.work_grade, GRADE_DATASHEET);
	bench.now_ns += 10 * MS - 1;
	assert_int_equal(bench_status(&bench), 0x03);
	bench_read(&bench, 0);
	assert_int_equal(bench.facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench.facts.margin_ns, -1);
	bench.now_ns += 1;
	assert_int_equal(bench_status(&bench), 0x00);
	assert_int_equal(bench_read(&bench, 0), 0x77);
	bench_deinit(&bench);
}

static void identification_is_asked_with_the_address_of_smaller_parts_as_well(void **state)
{
	struct bench *bench = *state;

	bench_send(bench, (uint8_t[]){0x83, 0, 0}, 3, 4);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_memory_equal(bench->reply, ((uint8_t[]){0xFF, 0x20, 0x00, 0x12}), 4);
	bench_send(bench, (uint8_t[]){0x03, 0, 0}, 3, 4);
	assert_int_equal(bench->facts.rule, CHIP_RULE_LENGTH);
}

static void write_without_enable_is_refused(void **state)
{
	struct bench *bench = *state;
	uint8_t command[] = {0x02, 0, 0, 0, 0x11};

	bench_send(bench, command, sizeof(command), 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
}

static void protection_bits_take_the_quarters_from_the_end(void **state)
{
	static const struct {
		uint8_t status;
		uint32_t first_protected;
	} rows[] = {{0x04, 0x30000}, {0x08, 0x20000}, {0x0C, 0x00000}};
	struct bench *bench = *state;
	uint8_t byte = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bench_write_register(bench, 0x01, &rows[i].status, 1);
		bench_finish_work(bench);
		bench_program(bench, rows[i].first_protected, &byte, 1);
		assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
		if (rows[i].first_protected == 0)
			continue;
		bench_program(bench, rows[i].first_protected - 1, &byte, 1);
		assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
		bench_finish_work(bench);
	}
}

static void identification_page_stands_in_for_an_id_command(void **state)
{
	struct bench *bench = *state;

	bench_op_at(bench, 0x83, 0, 4);
	assert_memory_equal(bench->reply, ((uint8_t[]){0x20, 0x00, 0x12, 0xFF}), 4);
	bench_op(bench, 0x9F, 3);
	assert_string_equal(bench->facts.name, "UNKNOWN");
}

static void there_is_no_erase(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0);
	assert_string_equal(bench->facts.name, "UNKNOWN");
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(m95m02, write_replaces_bytes_without_an_erase),
		WITH(m95m02, write_past_the_page_end_wraps_and_keeps_the_others),
		cmocka_unit_test(write_time_is_owed_to_the_nanosecond),
		WITH(m95m02, identification_is_asked_with_the_address_of_smaller_parts_as_well),
		WITH(m95m02, write_without_enable_is_refused),
		WITH(m95m02, protection_bits_take_the_quarters_from_the_end),
		WITH(m95m02, identification_page_stands_in_for_an_id_command),
		WITH(m95m02, there_is_no_erase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
