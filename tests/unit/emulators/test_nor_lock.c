/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks of single blocks. Protected ranges are tested in test_protection.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

BENCH_SET_UP(sst26vf064b, "SST26VF064B")
BENCH_SET_UP(at25df641, "AT25DF641")
BENCH_SET_UP(w25q128jv, "W25Q128JV")

/* Tests of SST26. */

static void sst26_is_locked_until_its_global_unlock(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_op(bench, 0x04, 0);
	bench_op(bench, 0x98, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x98, 0);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_finish_work(bench);
	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 1 * MS;
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
}

static void write_locks(struct bench *bench, const uint8_t octets[18])
{
	uint8_t command[19] = {0x42};

	memcpy(command + 1, octets, 18);
	bench_op(bench, 0x06, 0);
	bench_send(bench, command, sizeof(command), 0);
}

static void sst26_locks_stand_in_its_register(void **state)
{
	static const uint8_t locked[18] = {0x55, 0x55, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
		0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
	uint8_t wanted[18];
	struct bench *bench = *state;

	bench_op(bench, 0x72, 18);
	assert_memory_equal(bench->reply, locked, sizeof(locked));
	memcpy(wanted, locked, sizeof(wanted));
	wanted[17] = 0xFE; /* 64 KiB from 10000h on */
	wanted[1] = 0x51;  /* 8 KiB from 2000h on */
	write_locks(bench, wanted);
	bench_op(bench, 0x72, 18);
	assert_memory_equal(bench->reply, wanted, sizeof(wanted));
	bench_erase_at(bench, 0xD8, 0x1FFFF);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x20, 0x3000);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x20, 0x20000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_erase_at(bench, 0x20, 0x1000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_erase_at(bench, 0x20, 0x4000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
}

static void sst26_locks_that_are_held_stay_until_the_power_goes(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x8D, 0);
	assert_int_equal(bench_status(bench), 0x10);
	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x98, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 1 * MS;
	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x98, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

/* Tests of AT25DF and Winbond. */

static uint8_t read_lock(struct bench *bench, uint8_t opcode, uint32_t address)
{
	bench_op_at(bench, opcode, address, 1);
	return bench->reply[0];
}

static void at25df_locks_single_sectors(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x39, 0x1FFFF);
	assert_int_equal(read_lock(bench, 0x3C, 0x10000), 0x00);
	assert_int_equal(read_lock(bench, 0x3C, 0x20000), 0xFF);
	assert_int_equal(bench_status(bench), 0x14); /* some sectors are locked */
	bench_erase_at(bench, 0xD8, 0x10000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_finish_work(bench);
	bench_erase_at(bench, 0xD8, 0x20000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_erase_at(bench, 0x36, 0x10000);
	assert_int_equal(bench_status(bench), 0x1C);
}

static void at25df_is_unlocked_by_a_status_write(void **state)
{
	struct bench *bench = *state;
	uint8_t unlock = 0x00;
	uint8_t lock = 0x3C;
	uint8_t neither = 0x04;

	assert_int_equal(bench_status(bench), 0x1C);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_write_register(bench, 0x01, &neither, 1);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0x1C);
	bench_write_register(bench, 0x01, &unlock, 1);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0x10);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_finish_work(bench);
	bench_write_register(bench, 0x01, &lock, 1);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0x1C);
}

static void at25df_with_its_register_locked_stays_as_it_is(void **state)
{
	struct bench *bench = *state;
	uint8_t lock_register = 0x80;

	bench_write_register(bench, 0x01, &lock_register, 1); /* unlocks, then locks the register */
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0x90);
	bench_write_register(bench, 0x01, (uint8_t[]){0xBC}, 1);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0x90);
}

static void winbond_locks_count_instead_of_ranges_where_its_bit_says_so(void **state)
{
	struct bench *bench = *state;
	uint8_t by_locks = 0x04;

	assert_int_equal(read_lock(bench, 0x3D, 0x1000), 0x01);
	bench_erase_at(bench, 0x20, 0x1000);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	bench_finish_work(bench);
	bench_write_register(bench, 0x11, &by_locks, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x20, 0x1000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_erase_at(bench, 0x39, 0x1000);
	assert_int_equal(read_lock(bench, 0x3D, 0x1FFF), 0x00);
	assert_int_equal(read_lock(bench, 0x3D, 0x2000), 0x01);
	bench_erase_at(bench, 0x20, 0x1000);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	bench_finish_work(bench);
	bench_erase_at(bench, 0xD8, 0x0000); /* other sectors of that block are locked */
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x98, 0);
	bench_erase_at(bench, 0xD8, 0x0000);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	bench_finish_work(bench);
	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x7E, 0);
	assert_int_equal(read_lock(bench, 0x3D, 0x1000), 0x01);
	assert_int_equal(read_lock(bench, 0x3D, 0xFFFFFF), 0x01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(sst26vf064b, sst26_is_locked_until_its_global_unlock),
		WITH(sst26vf064b, sst26_locks_stand_in_its_register),
		WITH(sst26vf064b, sst26_locks_that_are_held_stay_until_the_power_goes),
		WITH(at25df641, at25df_locks_single_sectors),
		WITH(at25df641, at25df_is_unlocked_by_a_status_write),
		WITH(at25df641, at25df_with_its_register_locked_stays_as_it_is),
		WITH(w25q128jv, winbond_locks_count_instead_of_ranges_where_its_bit_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
