/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Status registers: writes, stored bits, errors and flags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

BENCH_SET_UP(w25q128jv, "W25Q128JV")
BENCH_SET_UP(m25p80, "M25P80")
BENCH_SET_UP(sst26vf064b, "SST26VF064B")
BENCH_SET_UP(s25fl256s, "S25FL256S_64K")
BENCH_SET_UP(n25q128, "N25Q128A13")
BENCH_SET_UP(at25sf161, "AT25SF161")
BENCH_SET_UP(at25df641, "AT25DF641")
BENCH_SET_UP(m25p10a, "M25P10-A")
BENCH_SET_UP(en25q64, "EN25Q64")

static void status_write_settles_when_its_time_is_over(void **state)
{
	struct bench *bench = *state;
	uint8_t all = 0xFF;

	bench_write_register(bench, 0x01, &all, 1);
	assert_int_equal(bench->facts.work, CHIP_WORK_WRITE_STATUS);
	assert_int_equal(bench->facts.work_ns, 10 * MS);
	assert_int_equal(bench_status(bench), STATUS_BUSY_AND_ENABLED);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0xFC); /* WIP and WEL are not stored */
}

static void status_write_of_two_bytes_sets_the_second_register(void **state)
{
	struct bench *bench = *state;
	uint8_t command[] = {0x01, 0x00, 0x02};

	bench_op(bench, 0x06, 0);
	bench_send(bench, command, sizeof(command), 0);
	bench_finish_work(bench);
	bench_op(bench, 0x35, 1);
	assert_int_equal(bench->reply[0], 0x02);
}

static void status_write_of_too_many_bytes_is_refused(void **state)
{
	struct bench *bench = *state;
	uint8_t command[] = {0x01, 0x00, 0x02};

	bench_op(bench, 0x06, 0); /* M25P80 has one register */
	bench_send(bench, command, sizeof(command), 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_LENGTH);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
}

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

static void sst26_is_busy_by_two_bits(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x98, 0);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench_status(bench), 0x83);
}

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

static void chip_erase_of_s25fl_with_protected_blocks_sets_no_error(void **state)
{
	struct bench *bench = *state;
	uint8_t some = 0x04;

	bench_write_register(bench, 0x01, &some, 1);
	bench_finish_work(bench);
	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x60, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	assert_int_equal(bench_status(bench), 0x04 | 0x02);
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

#define STEPS 1000u

/* Tests of WIP and WEL. */
static uint8_t busy_bits(struct bench *bench)
{
	return bench_status(bench) & STATUS_BUSY_AND_ENABLED;
}

/* Returns the thousandths of the erase after which WEL falls; STEPS if it falls with WIP. */
static unsigned int wel_falls_at(struct bench *bench, uint32_t address)
{
	unsigned int step = 0;
	uint64_t start_ns;

	bench_write_register(bench, 0x01, (const uint8_t[]){0x00}, 1);
	bench_finish_work(bench);
	start_ns = bench->now_ns;
	bench_erase_at(bench, 0xD8, address);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	while (step < STEPS) {
		bench->now_ns = start_ns + (bench->chip.busy_until_ns - start_ns) / STEPS * step;
		if (busy_bits(bench) == 0x01)
			break;
		assert_int_equal(busy_bits(bench), STATUS_BUSY_AND_ENABLED);
		step++;
	}
	bench->now_ns = bench->chip.busy_until_ns - 1;
	assert_int_equal(busy_bits(bench) & 0x01, 0x01);
	bench_finish_work(bench);
	assert_int_equal(busy_bits(bench), 0x00);
	return step;
}

static void wel_falls_within_the_busy_time_and_anew_for_each_use(void **state)
{
	struct bench *bench = *state;
	unsigned int first = wel_falls_at(bench, 0);
	unsigned int again = wel_falls_at(bench, 0);
	unsigned int elsewhere = wel_falls_at(bench, 0x10000);

	assert_in_range(first, 0, STEPS - 1);
	assert_in_range(again, 0, STEPS - 1);
	assert_in_range(elsewhere, 0, STEPS - 1);
	assert_int_not_equal(first, again);
	assert_int_not_equal(first, elsewhere);
}

static void wel_falls_by_seed_address_and_use_alone(void **state)
{
	struct bench *bench = *state;
	struct bench other;
	unsigned int first = wel_falls_at(bench, 0);

	bench_init(&other, bench->chip.part->name, "typ");
	(void)wel_falls_at(&other, 0x10000);
	assert_int_equal(wel_falls_at(&other, 0), first);
	bench_deinit(&other);
	bench_init(&other, bench->chip.part->name, "typ");
	other.chip.noise_seed = 1;
	assert_int_not_equal(wel_falls_at(&other, 0), first);
	bench_deinit(&other);
}

static void wel_of_other_parts_falls_with_wip(void **state)
{
	assert_int_equal(wel_falls_at(*state, 0), STEPS);
}

/*
 * Sends a write just before the end of an erase, with or without a look at the status; returns its
 * grade.
 */
static enum grade grade_of_a_write(struct bench *bench, bool looks)
{
	bench_erase_at(bench, 0xD8, 0);
	bench->now_ns = bench->chip.busy_until_ns - 1;
	if (looks)
		assert_int_equal(bench_status(bench), 0x01);
	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench->facts.margin_ns, -1);
	return bench->facts.grade;
}

static void client_that_saw_wel_fall_is_early_on_the_word_of_that_source(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(grade_of_a_write(bench, false), GRADE_DATASHEET);
	bench_finish_work(bench);
	assert_int_equal(grade_of_a_write(bench, true), GRADE_SECONDARY);
}

static void wel_that_is_assumed_to_fall_early_convicts_nobody(void **state)
{
	assert_int_equal(grade_of_a_write(*state, true), GRADE_ASSUMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q128jv, status_write_settles_when_its_time_is_over),
		WITH(w25q128jv, status_write_of_two_bytes_sets_the_second_register),
		WITH(m25p80, status_write_of_too_many_bytes_is_refused),
		WITH(w25q128jv, volatile_status_is_at_once_and_lost_with_the_power),
		WITH(w25q128jv, stored_status_survives_a_power_cycle),
		WITH(sst26vf064b, sst26_is_busy_by_two_bits),
		WITH(s25fl256s, refused_write_holds_s25fl_until_its_error_is_cleared),
		WITH(s25fl256s, chip_erase_of_s25fl_with_protected_blocks_sets_no_error),
		WITH(n25q128, flag_status_says_ready_and_keeps_errors_until_cleared),
		WITH(m25p80, wel_falls_within_the_busy_time_and_anew_for_each_use),
		WITH(m25p10a, wel_falls_within_the_busy_time_and_anew_for_each_use),
		WITH(at25sf161, wel_falls_within_the_busy_time_and_anew_for_each_use),
		WITH(at25df641, wel_falls_within_the_busy_time_and_anew_for_each_use),
		WITH(m25p80, wel_falls_by_seed_address_and_use_alone),
		WITH(w25q128jv, wel_of_other_parts_falls_with_wip),
		WITH(m25p80, client_that_saw_wel_fall_is_early_on_the_word_of_that_source),
		WITH(en25q64, wel_that_is_assumed_to_fall_early_convicts_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
