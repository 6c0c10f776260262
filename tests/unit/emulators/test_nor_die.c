/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacked dies: each says by itself whether it is busy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

#define IN_SECOND 0x800000

BENCH_SET_UP(w77q12nw, "W77Q12NW")
BENCH_SET_UP(w25q128jv, "W25Q128JV")

static void select_die(struct bench *bench, uint8_t die)
{
	bench_send(bench, (uint8_t[]){0xC2, die}, 2, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static uint8_t status_of(struct bench *bench, uint8_t die)
{
	select_die(bench, die);
	return bench_status(bench);
}

/* Erases all of it, and goes to a moment in which only the second die is busy. */
static void erase_first_die(struct bench *bench)
{
	bench_op(bench, 0x06, 0);
	bench_op(bench, 0xC7, 0);
	assert_int_equal(status_of(bench, 0), STATUS_BUSY_AND_ENABLED);
	assert_int_equal(status_of(bench, 1), STATUS_BUSY_AND_ENABLED);
	bench->now_ns = bench->chip.busy_until_ns - 1;
}

static void die_of_an_erased_chip_is_ready_before_the_other(void **state)
{
	struct bench *bench = *state;

	erase_first_die(bench);
	assert_int_equal(status_of(bench, 0), 0);
	assert_int_equal(status_of(bench, 1), STATUS_BUSY_AND_ENABLED);
	bench->now_ns++;
	assert_int_equal(status_of(bench, 1), 0);
}

static void read_of_a_busy_die_is_too_early_and_of_a_ready_one_is_not(void **state)
{
	struct bench *bench = *state;

	erase_first_die(bench);
	assert_int_equal(status_of(bench, 0), 0);
	bench_read(bench, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_read(bench, IN_SECOND);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns++;
	bench_read(bench, IN_SECOND);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.margin_ns, 0);
}

static void preview_of_a_read_leaves_the_wait_to_the_read(void **state)
{
	struct bench *bench = *state;
	static const uint8_t read[] = {0x03, 0x80, 0x00, 0x00};

	erase_first_die(bench);
	bench->now_ns++;
	chip_select(&bench->chip, bench->now_ns);
	for (size_t i = 0; i < sizeof(read); i++)
		chip_exchange(&bench->chip, bench->now_ns, read[i]);
	assert_int_equal(chip_preview(&bench->chip, bench->now_ns), 0xFF);
	chip_exchange(&bench->chip, bench->now_ns, 0);
	assert_true(chip_deselect(&bench->chip, bench->now_ns, &bench->facts));
	assert_true(bench->facts.owed);
	assert_int_equal(bench->facts.margin_ns, 0);
}

/* No source tells what a ready die makes of it, so that it convicts nobody. */
static void write_to_a_ready_die_is_too_early_by_no_source(void **state)
{
	struct bench *bench = *state;

	erase_first_die(bench);
	assert_int_equal(status_of(bench, 0), 0);
	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench->facts.grade, GRADE_ASSUMED);
}

static void block_is_busy_in_the_die_that_holds_it(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, IN_SECOND);
	assert_int_equal(bench_status(bench), STATUS_BUSY_AND_ENABLED);
	assert_int_equal(status_of(bench, 0), 0);
	bench_finish_work(bench);
	bench_program(bench, 0, (uint8_t[]){0}, 1);
	assert_int_equal(bench_status(bench), STATUS_BUSY_AND_ENABLED);
	assert_int_equal(status_of(bench, 1), 0);
}

static void status_write_takes_all_dies(void **state)
{
	struct bench *bench = *state;
	uint8_t bits = 0x1C;

	bench_write_register(bench, 0x01, &bits, 1);
	assert_int_equal(status_of(bench, 0), STATUS_BUSY_AND_ENABLED);
	assert_int_equal(status_of(bench, 1), STATUS_BUSY_AND_ENABLED);
	bench_finish_work(bench);
	assert_int_equal(status_of(bench, 1), bits);
}

static void die_that_is_not_there_is_not_selected(void **state)
{
	struct bench *bench = *state;

	erase_first_die(bench);
	select_die(bench, 1);
	select_die(bench, 2);
	assert_int_equal(bench_status(bench), STATUS_BUSY_AND_ENABLED);
}

static void reset_selects_the_first_die(void **state)
{
	struct bench *bench = *state;

	select_die(bench, 1);
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
	assert_int_equal(bench->chip.spi.die, 0);
}

static void part_of_one_die_has_no_die_select(void **state)
{
	struct bench *bench = *state;

	bench_send(bench, (uint8_t[]){0xC2, 1}, 2, 0);
	assert_string_equal(bench->facts.name, "UNKNOWN");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w77q12nw, die_of_an_erased_chip_is_ready_before_the_other),
		WITH(w77q12nw, read_of_a_busy_die_is_too_early_and_of_a_ready_one_is_not),
		WITH(w77q12nw, preview_of_a_read_leaves_the_wait_to_the_read),
		WITH(w77q12nw, write_to_a_ready_die_is_too_early_by_no_source),
		WITH(w77q12nw, block_is_busy_in_the_die_that_holds_it),
		WITH(w77q12nw, status_write_takes_all_dies),
		WITH(w77q12nw, die_that_is_not_there_is_not_selected),
		WITH(w77q12nw, reset_selects_the_first_die),
		WITH(w25q128jv, part_of_one_die_has_no_die_select),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
