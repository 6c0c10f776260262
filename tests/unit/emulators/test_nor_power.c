/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Power-up, sleep and resets. Power cuts are tested in test_power.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

BENCH_SET_UP(w25q128jv, "W25Q128JV")
BENCH_SET_UP(n25q128, "N25Q128A13")
BENCH_SET_UP(mt25ql128, "MT25QL128ABA")

/* Tests of power-up. */

static void command_within_tvsl_is_convicted(void **state)
{
	struct bench *bench = *state;

	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 20 * US - 1;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_SELECT);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.margin_ns, 0);
}

static void write_within_tpuw_is_convicted_and_a_read_is_not(void **state)
{
	struct bench *bench = *state;

	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 5 * MS - 1;
	bench_read(bench, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WRITE);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	bench_op(bench, 0x06, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench_status(bench), 0x02);
}

/* Tests of sleep. */

static void sleeping_part_hears_release_only(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	bench->now_ns += 3 * US;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_POWER_DOWN);
	assert_int_equal(bench->reply[0], 0xFF);
	bench_op(bench, 0xAB, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench->now_ns += 3 * US;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->reply[0], 0xEF);
}

static void release_within_tdp_is_convicted(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	bench->now_ns += 3 * US - 1;
	bench_op(bench, 0xAB, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_DEEP_POWER_DOWN);
	assert_int_equal(bench->facts.margin_ns, -1);
}

static void command_within_tres_is_convicted_even_a_status_read(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	bench->now_ns += 3 * US;
	bench_op(bench, 0xAB, 0);
	bench->now_ns += 3 * US - 1;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_RELEASE);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.margin_ns, 0);
}

static void release_with_id_owes_the_shorter_wait(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	bench->now_ns += 3 * US;
	bench_op_at(bench, 0xAB, 0, 1);
	assert_int_equal(bench->reply[0], 0x17);
	bench->now_ns += 1800;
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.margin_ns, 0);
}

static void part_without_power_down_does_not_know_its_opcodes(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	assert_string_equal(bench->facts.name, "UNKNOWN");
	bench_op(bench, 0xAB, 0);
	assert_string_equal(bench->facts.name, "UNKNOWN");
	bench_op(bench, 0x9F, 3);
	assert_int_equal(bench->reply[0], 0x20);
}

/* Tests of resets. */

static void reset_without_enable_does_nothing(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x9F, 3);
	bench_op(bench, 0x99, 0);
	bench_op(bench, 0x9F, 3);
	assert_false(bench->facts.owed);
	assert_int_equal(bench->reply[0], 0xEF);
}

static void reset_during_erase_spoils_it_and_owes_its_wait(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0x1000);
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
	assert_int_equal(bench->facts.status, 0x00);
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_RESET);
	bench->now_ns += 30 * US;
	bench_op_at(bench, 0x03, 0x1000, 256);
	assert_non_null(memchr(bench->reply, 0x00, 256));
	assert_int_equal(bench_read(bench, 0x0FFF), 0xFF);
	assert_int_equal(bench_read(bench, 0x2000), 0xFF);
}

static void reset_owes_the_wait_of_what_it_cut_off(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0);
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
	bench->now_ns += 500 * MS - 1;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_RESET);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
	bench->now_ns += 40;
	bench_op(bench, 0x05, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.margin_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q128jv, command_within_tvsl_is_convicted),
		WITH(w25q128jv, write_within_tpuw_is_convicted_and_a_read_is_not),
		WITH(w25q128jv, sleeping_part_hears_release_only),
		WITH(w25q128jv, release_within_tdp_is_convicted),
		WITH(w25q128jv, command_within_tres_is_convicted_even_a_status_read),
		WITH(w25q128jv, release_with_id_owes_the_shorter_wait),
		WITH(n25q128, part_without_power_down_does_not_know_its_opcodes),
		WITH(w25q128jv, reset_without_enable_does_nothing),
		WITH(w25q128jv, reset_during_erase_spoils_it_and_owes_its_wait),
		WITH(mt25ql128, reset_owes_the_wait_of_what_it_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
