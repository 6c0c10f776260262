/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench_cycles.h"

BENCH_SET_UP(w25q128jv, "W25Q128JV")
BENCH_SET_UP(at29c020, "AT29C020")
BENCH_SET_UP(sst39sf040, "SST39SF040")
BENCH_SET_UP(m95m02, "M95M02-DR")

static void plan(struct bench *bench, const char *text)
{
	struct power_cut cut;

	assert_int_equal(power_cut_parse(text, &cut), 0);
	chip_plan_power_cut(&bench->chip, &cut);
}

static void text_says_when_and_for_how_long(void **state)
{
	static const struct {
		const char *text;
		struct power_cut cut;
	} rows[] = {
		{"1", {1, true, 50, 0}},
		{"4294967295,0", {UINT32_MAX, false, 0, 0}},
		{"3,100%", {3, true, 100, 0}},
		{"3,1500,2000000", {3, false, 1500, 2000000}},
		{"3,7%,9", {3, true, 7, 9}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct power_cut cut;

		assert_int_equal(power_cut_parse(rows[i].text, &cut), 0);
		assert_int_equal(cut.nth, rows[i].cut.nth);
		assert_int_equal(cut.is_percent, rows[i].cut.is_percent);
		assert_int_equal(cut.after, rows[i].cut.after);
		assert_int_equal(cut.off_ns, rows[i].cut.off_ns);
	}
}

static void other_text_is_no_power_cut(void **state)
{
	static const char *const texts[] = {"", "0", "x", "-1", "4294967296", "1,", "1,101%",
		"1,5%%", "1,5,", "1,5,6,7", "1 ", "1,,5", "1,18446744073709551616"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct power_cut cut = {.nth = 9};

		assert_true(power_cut_parse(texts[i], &cut) < 0);
		assert_int_equal(cut.nth, 9);
	}
}

static void share_of_the_longest_work_does_not_overflow(void **state)
{
	struct power_cut cut = {.nth = 1, .is_percent = true, .after = 100};

	(void)state;
	assert_int_equal(power_cut_after_ns(&cut, UINT64_MAX / 2), UINT64_MAX / 2);
	cut.after = 50;
	assert_int_equal(power_cut_after_ns(&cut, 199), 99);
}

/* Programs 256 bytes of 00h at @address, the work that the cut interrupts. */
static void program_zeros(struct bench *bench, uint32_t address)
{
	static const uint8_t zeros[256];

	bench_program(bench, address, zeros, sizeof(zeros));
}

static void planned_cut_silences_the_part_from_that_nanosecond_on(void **state)
{
	struct bench *bench = *state;

	plan(bench, "1,1000");
	program_zeros(bench, 0);
	bench->now_ns += 999;
	assert_int_equal(bench_status(bench), 0x03);
	assert_false(bench->facts.lost_power);
	bench->now_ns += 1;
	assert_int_equal(bench_status(bench), 0xFF);
	assert_true(bench->facts.lost_power);
	assert_int_equal(bench->facts.lost_power_ns, bench->now_ns);
	assert_string_equal(bench->facts.name, "OFF");
	bench->now_ns += 10000 * MS;
	assert_int_equal(bench_read(bench, 0), 0xFF);
	assert_false(bench->facts.lost_power);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void page_under_way_is_half_done_and_the_rest_untouched(void **state)
{
	struct bench *bench = *state;
	uint8_t page[256];
	size_t zeros = 0;

	plan(bench, "2,50%,1000");
	program_zeros(bench, 0x100);
	bench_finish_work(bench);
	program_zeros(bench, 0x200);
	bench->now_ns += 100 * MS;
	assert_int_equal(bench_read(bench, 0x1FF), 0x00);
	array_read(&bench->chip.array, 0x200, page, sizeof(page));
	for (size_t i = 0; i < sizeof(page); i++)
		zeros += page[i] == 0x00;
	assert_in_range(zeros, 32, 128);
	assert_int_equal(bench_read(bench, 0x0FF), 0xFF);
	assert_int_equal(bench_read(bench, 0x300), 0xFF);
}

static void erase_under_way_is_half_done_and_the_rest_untouched(void **state)
{
	struct bench *bench = *state;
	uint8_t byte;

	for (uint32_t at = 0xFF00; at <= 0x20000; at += 0x100) {
		program_zeros(bench, at);
		bench_finish_work(bench);
	}
	plan(bench, "1,50%");
	bench_erase_at(bench, 0xD8, 0x10000);
	bench_finish_work(bench);
	bench_op(bench, 0x05, 1);
	array_read(&bench->chip.array, 0xFFFF, &byte, 1);
	assert_int_equal(byte, 0x00);
	array_read(&bench->chip.array, 0x10000, &byte, 1);
	assert_int_equal(byte, 0xFF);
	array_read(&bench->chip.array, 0x1FFFF, &byte, 1);
	assert_int_equal(byte, 0x00);
	array_read(&bench->chip.array, 0x20000, &byte, 1);
	assert_int_equal(byte, 0x00);
}

static void part_whose_power_comes_back_owes_its_power_up_times(void **state)
{
	struct bench *bench = *state;
	uint64_t back_ns;

	plan(bench, "1,50%,700000");
	program_zeros(bench, 0);
	back_ns = bench->chip.power.at_ns + 700000;
	bench->now_ns = back_ns - 1;
	bench_op(bench, 0x05, 1);
	assert_string_equal(bench->facts.name, "OFF");
	bench->now_ns = back_ns + 20 * US - 1;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_SELECT);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns = back_ns + 20 * US;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->reply[0], 0xEF);
	bench->now_ns = back_ns + 5 * MS;
	program_zeros(bench, 0x100); /* the second work: no more cuts are planned */
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0x100), 0x00);
}

static void cut_after_the_work_is_over_finds_it_done(void **state)
{
	struct bench *bench = *state;

	plan(bench, "1,800000,1000");
	program_zeros(bench, 0);
	bench->now_ns += 900 * MS;
	assert_int_equal(bench_read(bench, 0), 0x00);
	assert_true(bench->facts.lost_power);
}

static void suspended_work_that_loses_power_is_half_done(void **state)
{
	struct bench *bench = *state;
	uint8_t page[256];

	program_zeros(bench, 0x100);
	bench->now_ns += 100 * US;
	bench_op(bench, 0x75, 0);
	bench->now_ns += 20 * US;
	chip_power_off(&bench->chip, bench->now_ns); /* power stays off */
	array_read(&bench->chip.array, 0x100, page, sizeof(page));
	assert_non_null(memchr(page, 0x00, sizeof(page)));
	assert_non_null(memchr(page, 0xFF, sizeof(page)));
}

static void assert_half_done(struct bench *bench, uint32_t address)
{
	bench_op_at(bench, 0x03, address, 256);
	assert_non_null(memchr(bench->reply, 0x00, 256));
	assert_non_null(memchr(bench->reply, 0xFF, 256));
}

static void power_that_goes_cuts_off_an_erase(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0xD8, 0x10000);
	bench->now_ns += 1 * MS;
	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 10 * MS;
	assert_int_equal(bench_status(bench), 0x00);
	assert_half_done(bench, 0x10000);
}

static void power_that_goes_cuts_off_a_suspended_erase_too(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0xD8, 0x10000);
	bench_op(bench, 0x75, 0);
	bench->now_ns += 1 * MS;
	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 10 * MS;
	assert_int_equal(bench_register(bench, 0x35), 0x00);
	assert_half_done(bench, 0x10000);
}

static void write_of_an_eeprom_is_cut_off_inside_its_page(void **state)
{
	struct bench *bench = *state;
	uint8_t page[256];

	program_zeros(bench, 0x100);
	bench_finish_work(bench);
	plan(bench, "1");
	program_zeros(bench, 0x200);
	bench->now_ns += 10 * MS;
	bench_status(bench);
	array_read(&bench->chip.array, 0x200, page, sizeof(page));
	assert_non_null(memchr(page, 0x00, sizeof(page)));
	assert_non_null(memchr(page, 0xFF, sizeof(page)));
}

static void load_page(struct bench *bench, uint32_t address)
{
	bench_command(bench, 0, 0xA0);
	for (uint32_t i = 0; i < 256; i++)
		bench_write(bench, address + i, 0x00);
}

static void page_of_cycles_is_cut_off_inside_its_page(void **state)
{
	struct bench *bench = *state;
	uint8_t pages[768];

	plan(bench, "1,50%");
	load_page(bench, 0x200);
	bench->now_ns += 100 * MS;
	assert_int_equal(bench_get(bench, 0x200), 0xFF);
	assert_true(bench->facts.lost_power);
	array_read(&bench->chip.array, 0x100, pages, sizeof(pages));
	assert_null(memchr(pages, 0x00, 256));
	assert_non_null(memchr(pages + 256, 0x00, 256));
	assert_non_null(memchr(pages + 256, 0xFF, 256));
	assert_null(memchr(pages + 512, 0x00, 256));
}

/* Each byte delays the write, and the cut with it. */
static void cut_counts_from_when_the_page_write_begins(void **state)
{
	struct bench *bench = *state;

	plan(bench, "1,1000");
	load_page(bench, 0x200);
	bench->now_ns = bench->chip.busy_since_ns + 999;
	bench_get(bench, 0x200);
	assert_string_equal(bench->facts.name, "STATUS");
	bench->now_ns = bench->chip.busy_since_ns + 1000;
	bench_get(bench, 0x200);
	assert_string_equal(bench->facts.name, "OFF");
}

static void silent_part_takes_no_cycles(void **state)
{
	struct bench *bench = *state;
	uint8_t got[3];

	bench_fill_byte(bench, 0, 0, 0x00);
	chip_power_off(&bench->chip, bench->now_ns);
	bench_command(bench, 0, 0xA0);
	bench_write(bench, 1, 0x00);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
	chip_read_cycles(&bench->chip, bench->now_ns, 0, got, sizeof(got), &bench->facts);
	assert_memory_equal(got, ((uint8_t[]){0xFF, 0xFF, 0xFF}), 3);
	bench->now_ns += 1 * MS;
	chip_power_on(&bench->chip, bench->now_ns);
	assert_int_equal(bench_get(bench, 0), 0x00);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_says_when_and_for_how_long),
		cmocka_unit_test(other_text_is_no_power_cut),
		cmocka_unit_test(share_of_the_longest_work_does_not_overflow),
		WITH(w25q128jv, planned_cut_silences_the_part_from_that_nanosecond_on),
		WITH(w25q128jv, page_under_way_is_half_done_and_the_rest_untouched),
		WITH(w25q128jv, erase_under_way_is_half_done_and_the_rest_untouched),
		WITH(w25q128jv, part_whose_power_comes_back_owes_its_power_up_times),
		WITH(w25q128jv, cut_after_the_work_is_over_finds_it_done),
		WITH(w25q128jv, suspended_work_that_loses_power_is_half_done),
		WITH(w25q128jv, power_that_goes_cuts_off_an_erase),
		WITH(w25q128jv, power_that_goes_cuts_off_a_suspended_erase_too),
		WITH(m95m02, write_of_an_eeprom_is_cut_off_inside_its_page),
		WITH(at29c020, page_of_cycles_is_cut_off_inside_its_page),
		WITH(at29c020, cut_counts_from_when_the_page_write_begins),
		WITH(sst39sf040, silent_part_takes_no_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
