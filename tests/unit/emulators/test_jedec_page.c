/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench_cycles.h"

/* AT29C020, typ (half of its maximum): datasheet 0291P. */
#define PAGE_WRITE_NS (5 * MS)
#define LOAD_WINDOW_NS (150 * US)
#define ID_ACCESS_NS (10 * MS)

BENCH_SET_UP(at29c020, "AT29C020")
BENCH_SET_UP(w29ee011, "W29EE011")

static void load_page(struct bench *bench, uint32_t address, size_t len, uint8_t value)
{
	bench_command(bench, 0, 0xA0);
	for (uint32_t i = 0; i < len; i++)
		bench_write(bench, address + i, (uint8_t)(value + i));
}

static void write_page(struct bench *bench, uint32_t address, size_t len, uint8_t value)
{
	load_page(bench, address, len, value);
	bench_finish_work(bench);
}

static void assert_rule(const struct bench *bench, enum chip_rule rule, int64_t margin_ns)
{
	assert_int_equal(bench->facts.rule, rule);
	assert_true(bench->facts.owed);
	assert_int_equal(bench->facts.margin_ns, margin_ns);
}

static void page_is_written_when_no_byte_has_come_for_a_while(void **state)
{
	struct bench *bench = *state;
	uint64_t loaded_ns;

	load_page(bench, 0x300, 256, 0x00);
	loaded_ns = bench->now_ns;
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.work_ns, PAGE_WRITE_NS);
	assert_int_equal(bench->facts.busy_until_ns, loaded_ns + LOAD_WINDOW_NS + PAGE_WRITE_NS);
	bench->now_ns = loaded_ns + LOAD_WINDOW_NS + PAGE_WRITE_NS - 1;
	bench_write(bench, 0x5555, 0xAA);
	assert_rule(bench, CHIP_RULE_BUSY, -1);
	bench->now_ns = loaded_ns + LOAD_WINDOW_NS + PAGE_WRITE_NS;
	bench_write(bench, 0x5555, 0xAA);
	assert_rule(bench, CHIP_RULE_NONE, 0);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(bench_get(bench, 0x300 + i), i);
}

static void page_write_erases_by_itself(void **state)
{
	struct bench *bench = *state;

	write_page(bench, 0x300, 256, 0x00);
	write_page(bench, 0x300, 256, 0x80);
	assert_int_equal(bench_get(bench, 0x300), 0x80);
	assert_int_equal(bench_get(bench, 0x3FF), 0x7F);
	assert_int_equal(bench_get(bench, 0x400), 0xFF);
}

static void read_of_a_writing_part_toggles_and_inverts_the_last_byte(void **state)
{
	struct bench *bench = *state;
	uint8_t first;

	load_page(bench, 0, 256, 0x00);
	first = bench_get(bench, 0xFF);
	assert_string_equal(bench->facts.name, "STATUS");
	assert_int_equal(first & 0x80, 0x00);
	assert_int_equal((first ^ bench_get(bench, 0xFF)) & 0xC0, 0x40);
}

static void byte_at_the_end_of_the_window_is_taken(void **state)
{
	struct bench *bench = *state;

	load_page(bench, 0, 1, 0x11);
	bench->now_ns += LOAD_WINDOW_NS;
	bench_write(bench, 1, 0x22);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, 0), 0x11);
	assert_int_equal(bench_get(bench, 1), 0x22);
}

static void bytes_after_the_window_are_lost_and_told_as_late(void **state)
{
	struct bench *bench = *state;

	load_page(bench, 0, 1, 0x11);
	bench->now_ns += LOAD_WINDOW_NS + 1;
	bench_write(bench, 1, 0x22);
	assert_rule(bench, CHIP_RULE_WINDOW, -1);
	assert_int_equal(bench->facts.grade, GRADE_DATASHEET);
	bench_write(bench, 2, 0x33); /* still too late, not too early */
	assert_rule(bench, CHIP_RULE_WINDOW, -91);
	bench_write(bench, 0x100, 0x44); /* another page, which must wait for this one */
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, 0), 0x11);
	bench->now_ns += MS;
	assert_int_not_equal(bench_get(bench, 1), 0x22);
}

static void bytes_not_loaded_are_anything_and_the_same_each_run(void **state)
{
	uint8_t seen[2][256];
	size_t erased_count = 0;

	(void)state;
	for (size_t run = 0; run < 2; run++) {
		struct bench bench;

		bench_init(&bench, "AT29C020", "typ");
		write_page(&bench, 0, 1, 0x11);
		for (uint32_t i = 0; i < 256; i++)
			seen[run][i] = bench_get(&bench, i);
		bench_deinit(&bench);
	}
	assert_memory_equal(seen[0], seen[1], 256);
	for (size_t i = 1; i < 256; i++)
		erased_count += seen[0][i] == 0xFF;
	assert_in_range(erased_count, 0, 16);
}

static void bytes_not_loaded_are_erased_where_the_datasheet_says_so(void **state)
{
	struct bench *bench = *state;

	write_page(bench, 0, 128, 0x00);
	write_page(bench, 0, 1, 0x11);
	assert_int_equal(bench_get(bench, 0), 0x11);
	assert_int_equal(bench_get(bench, 1), 0xFF);
	assert_int_equal(bench_get(bench, 127), 0xFF);
}

static void byte_of_another_page_is_refused(void **state)
{
	struct bench *bench = *state;

	load_page(bench, 0, 1, 0x11);
	bench_write(bench, 0x100, 0x22);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PAGE);
	assert_false(bench->facts.owed);
}

static void data_without_its_prefix_is_refused_by_a_protected_part(void **state)
{
	struct bench *bench = *state;

	bench_write(bench, 0, 0x11);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench->now_ns += 20 * MS;
	assert_int_equal(bench_get(bench, 0), 0xFF);
}

static void part_without_protection_takes_bare_data(void **state)
{
	struct bench *bench = *state;

	bench_setup_command(bench, 0, 0x5555, 0x20);
	bench->now_ns += 20 * MS;
	bench_write(bench, 0x200, 0x11);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, 0x200), 0x11);
	write_page(bench, 0x200, 1, 0x22); /* A0h enables the protection again */
	bench_write(bench, 0x200, 0x33);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
}

static void sequence_that_pauses_is_none(void **state)
{
	struct bench *bench = *state;

	bench_write(bench, 0x5555, 0xAA);
	bench->now_ns += LOAD_WINDOW_NS + 1;
	bench_write(bench, 0x2AAA, 0x55);
	assert_rule(bench, CHIP_RULE_WINDOW, -1);
	bench_write(bench, 0x5555, 0x90);
	bench->now_ns += 20 * MS;
	assert_int_equal(bench_get(bench, 0), 0xFF);
	assert_string_equal(bench->facts.name, "READ");
}

static void first_byte_that_comes_late_is_told_as_late(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0xA0);
	bench->now_ns += LOAD_WINDOW_NS + 1;
	bench_write(bench, 0x10, 0x00);
	assert_rule(bench, CHIP_RULE_WINDOW, -1);
	bench_command(bench, 0, 0xA0);
	bench->now_ns += 20 * MS;
	bench_write(bench, 0x5555, 0xAA); /* a new command cannot be late */
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void id_entry_is_a_write_cycle_that_cannot_be_polled(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0x90);
	bench->now_ns += ID_ACCESS_NS - 1;
	bench_get(bench, 0);
	assert_rule(bench, CHIP_RULE_ID_ACCESS, -1);
	assert_int_equal(bench_get(bench, 0), 0x1F);
	assert_int_equal(bench_get(bench, 1), 0xDA);
	bench_command(bench, 0, 0xF0);
	bench->now_ns += ID_ACCESS_NS;
	assert_int_equal(bench_get(bench, 0), 0xFF);
	assert_rule(bench, CHIP_RULE_NONE, 0);
}

static void id_entry_of_winbond_has_six_bytes(void **state)
{
	struct bench *bench = *state;

	bench_command(bench, 0, 0x90);
	bench->now_ns += 10 * US;
	assert_int_equal(bench_get(bench, 0), 0xFF);
	bench_setup_command(bench, 0, 0x5555, 0x60);
	bench->now_ns += 10 * US - 1;
	bench_get(bench, 0);
	assert_rule(bench, CHIP_RULE_ID_ACCESS, -1);
	assert_int_equal(bench_get(bench, 0), 0xDA);
	assert_int_equal(bench_get(bench, 1), 0xC1);
}

static void power_that_goes_ends_id_mode_and_keeps_the_protection(void **state)
{
	struct bench *bench = *state;

	bench_setup_command(bench, 0, 0x5555, 0x20);
	bench->now_ns += 20 * MS;
	bench_command(bench, 0, 0x90);
	chip_power_cycle(&bench->chip, bench->now_ns);
	assert_int_equal(bench_get(bench, 0), 0xFF);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_write(bench, 0, 0x11); /* accepted: the protection was off, and stays off */
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void page_that_power_cut_off_is_not_written(void **state)
{
	struct bench *bench = *state;

	load_page(bench, 0, 256, 0x00);
	chip_power_cycle(&bench->chip, bench->now_ns);
	assert_int_equal(bench_get(bench, 0), 0xFF);
	assert_string_equal(bench->facts.name, "READ");
	bench_write(bench, 0x5555, 0xAA);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void chip_erase_takes_all(void **state)
{
	struct bench *bench = *state;

	write_page(bench, 0x1FF80, 128, 0x00);
	bench_setup_command(bench, 0, 0x5555, 0x10);
	assert_int_equal(bench->facts.work_ns, 50 * MS);
	bench_finish_work(bench);
	assert_int_equal(bench_get(bench, 0x1FF80), 0xFF);
}

static void part_that_is_never_busy_still_gathers_a_page(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, "AT29C020", "zero");
	write_page(&bench, 0, 256, 0x00);
	assert_int_equal(bench_get(&bench, 0x00), 0x00);
	assert_int_equal(bench_get(&bench, 0xFE), 0xFE);
	bench_deinit(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(at29c020, page_is_written_when_no_byte_has_come_for_a_while),
		WITH(at29c020, page_write_erases_by_itself),
		WITH(at29c020, read_of_a_writing_part_toggles_and_inverts_the_last_byte),
		WITH(at29c020, byte_at_the_end_of_the_window_is_taken),
		WITH(at29c020, bytes_after_the_window_are_lost_and_told_as_late),
		cmocka_unit_test(bytes_not_loaded_are_anything_and_the_same_each_run),
		WITH(w29ee011, bytes_not_loaded_are_erased_where_the_datasheet_says_so),
		WITH(at29c020, byte_of_another_page_is_refused),
		WITH(at29c020, data_without_its_prefix_is_refused_by_a_protected_part),
		WITH(at29c020, part_without_protection_takes_bare_data),
		WITH(at29c020, sequence_that_pauses_is_none),
		WITH(at29c020, first_byte_that_comes_late_is_told_as_late),
		WITH(at29c020, id_entry_is_a_write_cycle_that_cannot_be_polled),
		WITH(w29ee011, id_entry_of_winbond_has_six_bytes),
		WITH(at29c020, power_that_goes_ends_id_mode_and_keeps_the_protection),
		WITH(at29c020, page_that_power_cut_off_is_not_written),
		WITH(w29ee011, chip_erase_takes_all),
		cmocka_unit_test(part_that_is_never_busy_still_gathers_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
