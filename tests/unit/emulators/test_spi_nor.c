/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that all SPI NOR parts have: identity, reads, programs, write enable. Erases are in
 * test_nor_erase.c, the rest is in other files test_nor_*.c, and in test_spi_status.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

BENCH_SET_UP(w25q128jv, "W25Q128JV")
BENCH_SET_UP(m25p80, "M25P80")
BENCH_SET_UP(w25q64fv, "W25Q64FV")
BENCH_SET_UP(mx25l6436f, "MX25L6436F")

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

static void program_of_one_byte_alone_takes_its_own_time(void **state)
{
	struct bench *bench = *state;
	uint8_t bytes[2] = {0, 0};

	bench_program(bench, 0, bytes, 1);
	assert_int_equal(bench->facts.work_ns, 10 * US);
	bench_finish_work(bench);
	bench_program(bench, 0, bytes, 2);
	assert_int_equal(bench->facts.work_ns, 330 * US);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q128jv, identity_is_the_parts_own),
		WITH(m25p80, command_that_the_part_lacks_floats_and_is_no_violation),
		WITH(w25q128jv, dummies_that_were_not_written_are_the_first_bytes_read),
		WITH(w25q128jv, program_past_the_page_end_wraps_inside_the_page),
		WITH(w25q128jv, program_of_more_than_a_page_keeps_the_last_bytes),
		WITH(w25q128jv, program_twice_clears_bits_and_sets_none),
		WITH(mx25l6436f, program_of_one_byte_alone_takes_its_own_time),
		WITH(w25q64fv, program_of_few_bytes_takes_the_byte_times_where_given),
		WITH(w25q128jv, program_without_write_enable_is_ignored),
		WITH(w25q128jv, write_enable_is_seen_in_status_and_undone_by_disable),
		WITH(w25q128jv, write_enable_ends_with_the_work),
		WITH(w25q128jv, write_enable_during_busy_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
