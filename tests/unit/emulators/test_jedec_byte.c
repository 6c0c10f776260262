/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench_cycles.h"

/* SST39SF040 at its typical figures: datasheet DS25022B. */
#define PROGRAM_NS (14 * US)
#define SECTOR_ERASE_NS (18 * MS)
#define CHIP_ERASE_NS (70 * MS)
#define ID_ACCESS_NS UINT64_C(150)

BENCH_SET_UP(sst39sf040, "SST39SF040")
BENCH_SET_UP(am29f040b, "Am29F040B")
BENCH_SET_UP(mx29f040, "MX29F040")
BENCH_SET_UP(at49f002, "AT49F002")
BENCH_SET_UP(w39v040a, "W39V040A")
BENCH_SET_UP(sst49lf004b, "SST49LF004B")

static void assert_early(const struct bench *bench, enum chip_rule rule, int64_t margin_ns)
{
	assert_int_equal(bench->facts.rule, rule);
	assert_true(bench->facts.owed);
	assert_int_equal(bench->facts.margin_ns, margin_ns);
}

static void assert_obeyed(const struct bench *bench)
{
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void program_takes_its_time_and_clears_bits(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0xA0);
	assert_true(bench->facts.partial);
	bench_write(bench, 0x12345, 0x5A);
	assert_obeyed(bench);
	assert_string_equal(bench->facts.name, "PROGRAM");
	assert_false(bench->facts.partial);
	assert_int_equal(bench->facts.work, CHIP_WORK_PROGRAM);
	assert_int_equal(bench->facts.work_ns, PROGRAM_NS);
	assert_int_equal(bench->facts.busy_until_ns, bench->now_ns + PROGRAM_NS);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, 0x12345), 0x5A);
	bench_fill_byte(bench, 0, 0x12345, 0xA5);
	assert_int_equal(bench_get(bench, 0x12345), 0x00);
}

static void read_of_a_busy_part_toggles_and_inverts_data(void **state)
{
	struct bench *bench = *state;
	uint8_t first;

	bench_command(bench, 0, 0xA0);
	bench_write(bench, 0x100, 0x80);
	first = bench_get(bench, 0x100);
	assert_obeyed(bench);
	assert_false(bench->facts.owed);
	assert_string_equal(bench->facts.name, "STATUS");
	assert_int_equal(first & 0x80, 0x00);
	assert_int_equal((first ^ bench_get(bench, 0x100)) & 0xC0, 0x40);
	bench->now_ns = bench->chip.busy_until_ns - 1;
	assert_int_equal((first ^ bench_get(bench, 0x100)) & 0xC0, 0x00);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, 0x100), 0x80);
	assert_int_equal(bench_get(bench, 0x100), 0x80);
	assert_string_equal(bench->facts.name, "READ");
}

static void write_one_ns_before_the_end_is_ignored_and_convicted(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0xA0);
	bench_write(bench, 0x100, 0x00);
	bench->now_ns = bench->chip.busy_until_ns - 1;
	bench_write(bench, 0x5555, 0xAA);
	assert_early(bench, CHIP_RULE_BUSY, -1);
	assert_int_equal(bench->facts.grade, GRADE_DATASHEET);
	assert_int_equal(bench->facts.busy_left_ns, 1);
	/* The rest of the command comes in time, but completes none. */
	bench_write(bench, 0x2AAA, 0x55);
	assert_early(bench, CHIP_RULE_NONE, 69);
	bench_write(bench, 0x5555, 0xA0);
	bench_write(bench, 0x101, 0x00);
	bench->now_ns += MS;
	assert_int_equal(bench_get(bench, 0x101), 0xFF);
}

static void write_at_the_end_is_in_time(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0xA0);
	bench_write(bench, 0x100, 0x00);
	bench_finish_work(bench);
	bench_write(bench, 0x5555, 0xAA);
	assert_early(bench, CHIP_RULE_NONE, 0);
	bench_write(bench, 0x2AAA, 0x55);
	assert_false(bench->facts.owed);
}

static void sector_erase_takes_its_own_sector_when_it_is_over(void **state)
{
	struct bench *bench = *state;

	bench_fill_byte(bench, 0, 0x1FFF, 0x00);
	bench_fill_byte(bench, 0, 0x2000, 0x00);
	bench_fill_byte(bench, 0, 0x3000, 0x00);
	bench_setup_command(bench, 0, 0x2ABC, 0x30);
	assert_obeyed(bench);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	assert_int_equal(bench->facts.work_ns, SECTOR_ERASE_NS);
	assert_int_equal(bench_get(bench, 0x2000) & 0x80, 0x00);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, 0x1FFF), 0x00);
	assert_int_equal(bench_get(bench, 0x2000), 0xFF);
	assert_int_equal(bench_get(bench, 0x3000), 0x00);
}

static void chip_erase_needs_the_command_address(void **state)
{
	struct bench *bench = *state;

	bench_fill_byte(bench, 0, 0x70000, 0x00);
	bench_setup_command(bench, 0, 0x1234, 0x10);
	assert_string_equal(bench->facts.name, "UNKNOWN");
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
	bench_setup_command(bench, 0, 0x5555, 0x10);
	assert_int_equal(bench->facts.work_ns, CHIP_ERASE_NS);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, 0x70000), 0xFF);
}

static void unlock_decodes_its_own_address_bits_only(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0x78000, 0xA0); /* A18 to A15 are ignored */
	bench_write(bench, 0x100, 0x00);
	assert_int_equal(bench->facts.work, CHIP_WORK_PROGRAM);
	bench_finish_work(bench);
	bench_write(bench, 0x5555, 0xAA);
	bench_write(bench, 0x2AAB, 0x55);
	bench_write(bench, 0x5555, 0xA0);
	bench_write(bench, 0x101, 0x00);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
}

static void unlock_of_am29f040b_decodes_eleven_bits(void **state)
{
	struct bench *bench = *state;

	bench_write(bench, 0x555, 0xAA);
	bench_write(bench, 0x2AA, 0x55);
	bench_write(bench, 0x7F555 & 0x7FD55, 0xA0);
	bench_write(bench, 0x100, 0x00);
	assert_int_equal(bench->facts.work, CHIP_WORK_PROGRAM);
}

static void id_is_seen_after_its_entry_and_gone_after_its_exit(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0x90);
	bench->now_ns += ID_ACCESS_NS;
	assert_int_equal(bench_get(bench, 0), 0xBF);
	assert_early(bench, CHIP_RULE_NONE, 0);
	assert_int_equal(bench_get(bench, 1), 0xB7);
	assert_false(bench->facts.owed);
	bench_command(bench, 0, 0xF0);
	bench->now_ns += ID_ACCESS_NS;
	assert_int_equal(bench_get(bench, 0), 0xFF);
	assert_string_equal(bench->facts.name, "READ");
}

static void read_within_tida_is_convicted_and_returns_noise(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0x90);
	bench->now_ns += ID_ACCESS_NS - 1;
	bench_get(bench, 0);
	assert_early(bench, CHIP_RULE_ID_ACCESS, -1);
	assert_int_equal(bench->facts.grade, GRADE_SECONDARY);
	bench_write(bench, 0, 0xF0); /* at the end of that cycle: in time, and it ends ID mode */
	assert_obeyed(bench);
	assert_string_equal(bench->facts.name, "ID_EXIT");
	bench_write(bench, 0, 0xAA);
	assert_early(bench, CHIP_RULE_ID_ACCESS, -(int64_t)ID_ACCESS_NS);
}

static void reads_in_a_row_tell_of_the_first_that_was_too_early(void **state)
{
	struct bench *bench = *state;
	uint8_t out[4];

	bench_command(bench, 0, 0x90);
	chip_read_cycles(&bench->chip, bench->now_ns + ID_ACCESS_NS - 1, 0, out, 4, &bench->facts);
	assert_early(bench, CHIP_RULE_ID_ACCESS, -1);
	assert_int_equal(out[1], 0xB7);
	bench->now_ns += US;
	chip_read_cycles(&bench->chip, bench->now_ns, 0, out, 2, &bench->facts);
	assert_memory_equal(out, "\xBF\xB7", 2);
	assert_obeyed(bench);
}

static void reads_in_a_row_wrap_as_the_part_does(void **state)
{
	struct bench *bench = *state;
	uint8_t data[] = {0x12, 0x34};
	uint8_t out[5];

	array_load(&bench->chip.array, 0x7FFFF, data, 1);
	array_load(&bench->chip.array, 0, data + 1, 1);
	chip_read_cycles(&bench->chip, bench->now_ns, 0x7FFFE, out, 5, &bench->facts);
	assert_memory_equal(out, "\xFF\x12\x34\xFF\xFF", 5);
	assert_string_equal(bench->facts.name, "READ");
	assert_int_equal(bench->facts.address, 0x7FFFE);
}

static void single_f0_ends_id_mode_and_a_sequence(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0x90);
	bench->now_ns += US;
	bench_write(bench, 0x777, 0xF0);
	bench->now_ns += US;
	assert_int_equal(bench_get(bench, 0), 0xFF);
	bench_write(bench, 0x5555, 0xAA);
	bench_write(bench, 0, 0xF0);
	assert_string_equal(bench->facts.name, "RESET");
	bench_write(bench, 0x2AAA, 0x55);
	bench_write(bench, 0x5555, 0x90);
	bench->now_ns += US;
	assert_int_equal(bench_get(bench, 0), 0xFF);
}

static void f0_after_a0_is_data(void **state)
{
	struct bench *bench = *state;

	bench_fill_byte(bench, 0, 0x10, 0xF0);
	assert_int_equal(bench_get(bench, 0x10), 0xF0);
}

static void program_in_id_mode_is_refused(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0x90);
	bench->now_ns += US;
	bench_command(bench, 0, 0xA0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_ID_MODE);
	assert_false(bench->facts.owed);
}

static void further_sector_is_taken_until_the_window_closes(void **state)
{
	struct bench *bench = *state;
	uint64_t window_ns = 50 * US;
	uint64_t sector_ns = 1000 * MS;

	bench_fill_byte(bench, 0, 0x00000, 0x00);
	bench_fill_byte(bench, 0, 0x10000, 0x00);
	bench_fill_byte(bench, 0, 0x30000, 0x00);
	bench_setup_command(bench, 0, 0x00000, 0x30);
	assert_int_equal(bench->facts.busy_until_ns, bench->now_ns + window_ns + sector_ns);
	bench->now_ns += window_ns;
	bench_write(bench, 0x30000, 0x30);
	assert_obeyed(bench);
	assert_int_equal(bench->facts.work_ns, 2 * sector_ns);
	assert_int_equal(bench->facts.busy_until_ns, bench->now_ns + window_ns + 2 * sector_ns);
	bench->now_ns += window_ns + 1;
	bench_write(bench, 0x10000, 0x30);
	assert_early(bench, CHIP_RULE_WINDOW, -1);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, 0x00000), 0xFF);
	assert_int_equal(bench_get(bench, 0x10000), 0x00);
	assert_int_equal(bench_get(bench, 0x30000), 0xFF);
}

static void sector_named_twice_is_erased_once(void **state)
{
	struct bench *bench = *state;

	bench_setup_command(bench, 0, 0x20000, 0x30);
	bench_write(bench, 0x2FFFF, 0x30);
	assert_int_equal(bench->facts.work_ns, 1000 * MS);
}

static void timer_bit_tells_that_the_window_is_closed(void **state)
{
	struct bench *bench = *state;
	uint64_t closed_ns;

	bench_setup_command(bench, 0, 0, 0x30);
	closed_ns = bench->now_ns + 50 * US;
	bench->now_ns = closed_ns;
	assert_int_equal(bench_get(bench, 0) & 0x08, 0x00);
	bench->now_ns = closed_ns + 1;
	assert_int_equal(bench_get(bench, 0) & 0x08, 0x08);
}

static void other_command_in_the_window_makes_the_part_forget_the_erase(void **state)
{
	struct bench *bench = *state;

	bench_fill_byte(bench, 0, 0x10000, 0x00);
	bench_setup_command(bench, 0, 0x10000, 0x30);
	bench_write(bench, 0, 0xF0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench_get(bench, 0x10000), 0x00);
	assert_string_equal(bench->facts.name, "READ");
	bench_write(bench, 0, 0xF0);
	assert_obeyed(bench);
}

static void id_of_am29f040b_needs_no_wait(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0x90);
	assert_int_equal(bench_get(bench, 0), 0x01);
	assert_false(bench->facts.owed);
	assert_int_equal(bench_get(bench, 1), 0xA4);
}

static void sectors_of_at49f002_have_their_own_sizes(void **state)
{
	static const uint32_t edges[] = {0, 0x4000, 0x6000, 0x8000, 0x20000, 0x40000};
	struct bench *bench = *state;

	for (size_t i = 0; i + 1 < sizeof(edges) / sizeof(edges[0]); i++) {
		bench_fill_byte(bench, 0, (edges[i] - 1) % 0x40000, 0x00);
		bench_fill_byte(bench, 0, edges[i], 0x00);
		bench_fill_byte(bench, 0, edges[i + 1] - 1, 0x00);
		bench_fill_byte(bench, 0, edges[i + 1] % 0x40000, 0x00);
		bench_setup_command(bench, 0, edges[i + 1] - 1, 0x30);
		bench_finish_work(bench);
		assert_int_equal(bench_get(bench, edges[i]), 0xFF);
		assert_int_equal(bench_get(bench, edges[i + 1] - 1), 0xFF);
		assert_int_equal(bench_get(bench, (edges[i] - 1) % 0x40000), 0x00);
		assert_int_equal(bench_get(bench, edges[i + 1] % 0x40000), 0x00);
	}
}

static void lpc_part_is_seen_at_the_top_and_its_registers_below(void **state)
{
	struct bench *bench = *state;

	bench_fill_byte(bench, ARRAY_512K, 0x40000, 0x12);
	assert_int_equal(bench_get(bench, ARRAY_512K + 0x40000), 0x12);
	assert_int_equal(bench_get(bench, REGISTERS_512K + 0x40000), 0xDA);
	assert_int_equal(bench_get(bench, REGISTERS_512K + 0x40001), 0x3D);
	assert_string_equal(bench->facts.name, "REGISTER");
	bench_setup_command(bench, ARRAY_512K, 0x41000, 0x50);
	assert_int_equal(bench->facts.work_ns, 12500 * US);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, ARRAY_512K + 0x40000), 0x12);
	bench_setup_command(bench, ARRAY_512K, 0x41000, 0x30);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, ARRAY_512K + 0x40000), 0xFF);
}

static void locked_block_is_neither_programmed_nor_erased(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(bench_get(bench, REGISTERS_512K + 0x20002), 0x01);
	bench_command(bench, ARRAY_512K, 0xA0);
	bench_write(bench, ARRAY_512K + 0x21000, 0x00);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_setup_command(bench, ARRAY_512K, 0x21000, 0x30);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_write(bench, REGISTERS_512K + 0x20002, 0x00);
	assert_string_equal(bench->facts.name, "LOCK");
	bench_fill_byte(bench, ARRAY_512K, 0x21000, 0x00);
	assert_int_equal(bench_get(bench, ARRAY_512K + 0x21000), 0x00);
	bench_command(bench, ARRAY_512K, 0xA0);
	bench_write(bench, ARRAY_512K + 0x31000, 0x00);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
}

static void part_that_is_never_busy_still_keeps_its_erase_window(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, "Am29F040B", "zero");
	bench_setup_command(&bench, 0, 0, 0x30);
	assert_int_equal(bench.facts.busy_until_ns, bench.now_ns + 50 * US);
	bench_deinit(&bench);
}

/* Reads the status at 0 and at @address; checks that both toggle. */
static void read_status_at(struct bench *bench, uint32_t address, uint8_t dq7[2])
{
	const uint32_t where[] = {0, address};

	for (size_t i = 0; i < 2; i++) {
		uint8_t first = bench_get(bench, where[i]);

		assert_string_equal(bench->facts.name, "STATUS");
		dq7[i] = first & 0x80;
		assert_int_equal((first ^ bench_get(bench, where[i])) & 0xC0, 0x40);
	}
}

static void dq7_outside_of_the_erasing_sector_is_a_bit_of_the_array(void **state)
{
	struct bench *bench = *state;
	uint8_t dq7[2];

	bench_setup_command(bench, 0, 0x10000, 0x30);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	read_status_at(bench, 0x1FFFF, dq7);
	assert_int_equal(dq7[0], 0x80); /* FFh, which looks like a finished erase */
	assert_int_equal(dq7[1], 0x00);
	bench_finish_work(bench);
	bench_fill_byte(bench, 0, 0, 0x00);
	bench_setup_command(bench, 0, 0x10000, 0x30);
	read_status_at(bench, 0x10000, dq7);
	assert_int_equal(dq7[0], 0x00);
	assert_int_equal(dq7[1], 0x00);
}

static void dq7_tells_in_each_of_the_sectors_that_are_erased(void **state)
{
	struct bench *bench = *state;
	uint8_t dq7[2];

	bench_setup_command(bench, 0, 0x10000, 0x30);
	bench_write(bench, 0x40000, 0x30);
	assert_obeyed(bench);
	read_status_at(bench, 0x4ABCD, dq7);
	assert_int_equal(dq7[0], 0x80);
	assert_int_equal(dq7[1], 0x00);
	bench_finish_work(bench);
	bench_setup_command(bench, 0, 0x5555, 0x10);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	read_status_at(bench, 0x7FFFF, dq7);
	assert_int_equal(dq7[0], 0x00);
	assert_int_equal(dq7[1], 0x00);
}

static void dq7_of_a_program_tells_at_its_byte_alone(void **state)
{
	struct bench *bench = *state;
	uint8_t dq7[2];

	bench_command(bench, 0, 0xA0);
	bench_write(bench, 0x10000, 0xFF);
	read_status_at(bench, 0x10000, dq7);
	assert_int_equal(dq7[0], 0x80);
	assert_int_equal(dq7[1], 0x00);
}

static void dq7_of_other_parts_tells_at_any_address(void **state)
{
	struct bench *bench = *state;
	uint8_t dq7[2];

	bench_setup_command(bench, 0, 0x10000, 0x30);
	read_status_at(bench, 0x70000, dq7);
	assert_int_equal(dq7[0], 0x00);
	assert_int_equal(dq7[1], 0x00);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(sst39sf040, program_takes_its_time_and_clears_bits),
		WITH(sst39sf040, read_of_a_busy_part_toggles_and_inverts_data),
		WITH(sst39sf040, write_one_ns_before_the_end_is_ignored_and_convicted),
		WITH(sst39sf040, write_at_the_end_is_in_time),
		WITH(sst39sf040, sector_erase_takes_its_own_sector_when_it_is_over),
		WITH(sst39sf040, chip_erase_needs_the_command_address),
		WITH(sst39sf040, unlock_decodes_its_own_address_bits_only),
		WITH(am29f040b, unlock_of_am29f040b_decodes_eleven_bits),
		WITH(sst39sf040, id_is_seen_after_its_entry_and_gone_after_its_exit),
		WITH(sst39sf040, read_within_tida_is_convicted_and_returns_noise),
		WITH(sst39sf040, reads_in_a_row_tell_of_the_first_that_was_too_early),
		WITH(sst39sf040, reads_in_a_row_wrap_as_the_part_does),
		WITH(sst39sf040, single_f0_ends_id_mode_and_a_sequence),
		WITH(sst39sf040, f0_after_a0_is_data),
		WITH(sst39sf040, program_in_id_mode_is_refused),
		WITH(am29f040b, further_sector_is_taken_until_the_window_closes),
		WITH(am29f040b, sector_named_twice_is_erased_once),
		WITH(am29f040b, timer_bit_tells_that_the_window_is_closed),
		WITH(am29f040b, other_command_in_the_window_makes_the_part_forget_the_erase),
		WITH(am29f040b, id_of_am29f040b_needs_no_wait),
		WITH(at49f002, sectors_of_at49f002_have_their_own_sizes),
		WITH(w39v040a, lpc_part_is_seen_at_the_top_and_its_registers_below),
		WITH(sst49lf004b, locked_block_is_neither_programmed_nor_erased),
		cmocka_unit_test(part_that_is_never_busy_still_keeps_its_erase_window),
		WITH(am29f040b, dq7_outside_of_the_erasing_sector_is_a_bit_of_the_array),
		WITH(mx29f040, dq7_outside_of_the_erasing_sector_is_a_bit_of_the_array),
		WITH(am29f040b, dq7_tells_in_each_of_the_sectors_that_are_erased),
		WITH(am29f040b, dq7_of_a_program_tells_at_its_byte_alone),
		WITH(sst39sf040, dq7_of_other_parts_tells_at_any_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
