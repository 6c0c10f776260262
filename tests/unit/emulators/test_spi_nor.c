/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"
#include "model/spi.h"

/* What only some SPI NOR parts have; what all have is in test_chip.c. */
BENCH_SET_UP(s25fl128l, "S25FL128L")
BENCH_SET_UP(w25q128jv, "W25Q128JV")
BENCH_SET_UP(w25q256jv, "W25Q256JV")
BENCH_SET_UP(mx25l6406e, "MX25L6406E")
BENCH_SET_UP(mx25l25635f, "MX25L25635F")
BENCH_SET_UP(n25q128, "N25Q128A13")
BENCH_SET_UP(mt25ql128, "MT25QL128ABA")
BENCH_SET_UP(s25fl256s, "S25FL256S_64K")
BENCH_SET_UP(at25df641, "AT25DF641")
BENCH_SET_UP(sst26vf064b, "SST26VF064B")
BENCH_SET_UP(p25q16h, "P25Q16H")

static void program4(struct bench *bench, uint32_t address, uint8_t value)
{
	uint8_t command[] = {0x12, (uint8_t)(address >> 24), (uint8_t)(address >> 16),
		(uint8_t)(address >> 8), (uint8_t)address, value};

	bench_op(bench, 0x06, 0);
	bench_send(bench, command, sizeof(command), 0);
	bench_finish_work(bench);
}

static uint8_t read4(struct bench *bench, uint32_t address)
{
	bench_op_at4(bench, 0x13, address, 1);
	return bench->reply[0];
}

/* Addresses of four bytes. */

static void four_byte_opcodes_reach_the_upper_half_in_any_mode(void **state)
{
	struct bench *bench = *state;

	program4(bench, 0x1234567, 0x5A);
	assert_int_equal(read4(bench, 0x1234567), 0x5A);
	assert_int_equal(bench_read(bench, 0x234567), 0xFF);
	bench_op(bench, 0x06, 0);
	bench_op_at4(bench, 0x21, 0x1234000, 0);
	assert_int_equal(bench->facts.address, 0x1234000);
	bench_finish_work(bench);
	assert_int_equal(read4(bench, 0x1234567), 0xFF);
}

static void address_mode_changes_what_a_read_takes(void **state)
{
	struct bench *bench = *state;

	program4(bench, 0x1000000, 0x5A);
	bench_op(bench, 0xB7, 0);
	bench_op_at4(bench, 0x03, 0x1000000, 1);
	assert_int_equal(bench->reply[0], 0x5A);
	bench_op_at(bench, 0x03, 0, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_LENGTH);
	bench_op(bench, 0xE9, 0);
	bench_op_at(bench, 0x03, 0, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->reply[0], 0xFF);
}

static void address_mode_shows_in_its_register(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(bench_register(bench, 0x15) & 0x01, 0);
	bench_op(bench, 0xB7, 0);
	assert_int_equal(bench_register(bench, 0x15) & 0x01, 1);
}

/* Its array needs no fourth byte, and has commands with one all the same. */
static void s25fl128l_takes_four_address_bytes_by_mode_and_by_opcode(void **state)
{
	struct bench *bench = *state;

	program4(bench, 0x12345, 0x5A);
	bench_op_at4(bench, 0x13, 0x12345, 1);
	assert_int_equal(bench->reply[0], 0x5A);
	bench_op(bench, 0xB7, 0);
	assert_int_equal(bench_register(bench, 0x15), 0x01);
	bench_op_at4(bench, 0x03, 0x12345, 1);
	assert_int_equal(bench->reply[0], 0x5A);
	bench_op(bench, 0x06, 0);
	bench_op_at4(bench, 0x53, 0x12345, 0);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	bench_finish_work(bench);
	bench_op(bench, 0xE9, 0);
	assert_int_equal(bench_read(bench, 0x12345), 0xFF);
}

static void extended_address_register_stands_for_the_fourth_byte(void **state)
{
	struct bench *bench = *state;
	uint8_t high = 0x01;

	program4(bench, 0x1000000, 0x5A);
	bench_send(bench, (uint8_t[]){0xC5, 0x01}, 2, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
	bench_write_register(bench, 0xC5, &high, 1);
	assert_int_equal(bench_register(bench, 0xC8), 0x01);
	assert_int_equal(bench_read(bench, 0), 0x5A);
	assert_int_equal(bench->facts.address, 0x1000000);
}

static void bank_register_stands_for_the_fourth_byte_and_sets_the_mode(void **state)
{
	struct bench *bench = *state;

	program4(bench, 0x1000000, 0x5A);
	bench_send(bench, (uint8_t[]){0x17, 0x01}, 2, 0);
	assert_int_equal(bench_register(bench, 0x16), 0x01);
	assert_int_equal(bench_read(bench, 0), 0x5A);
	bench_send(bench, (uint8_t[]){0x17, 0x80}, 2, 0);
	assert_int_equal(bench_register(bench, 0x16), 0x80);
	bench_op_at4(bench, 0x03, 0x1000000, 1);
	assert_int_equal(bench->reply[0], 0x5A);
}

static void bank_access_opens_01h_for_one_command(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB9, 0);
	assert_string_equal(bench->facts.name, "BRAC");
	bench_send(bench, (uint8_t[]){0x01, 0x01}, 2, 0);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
	assert_int_equal(bench_register(bench, 0x16), 0x01);
	bench_send(bench, (uint8_t[]){0x01, 0x00}, 2, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
}

/* Errors and flags. */

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

/* Protection that is on when power comes. */

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

static void sst26_erases_the_block_that_holds_the_address(void **state)
{
	static const struct {
		uint32_t address;
		uint32_t begin;
		uint32_t size_bytes;
	} rows[] = {
		{0x0000, 0x0000, 0x2000},
		{0x7FFF, 0x6000, 0x2000},
		{0x8000, 0x8000, 0x8000},
		{0x1ABCD, 0x10000, 0x10000},
		{0x7EFFFF, 0x7E0000, 0x10000},
		{0x7F7FFF, 0x7F0000, 0x8000},
		{0x7F8000, 0x7F8000, 0x2000},
		{0x7FFFFF, 0x7FE000, 0x2000},
	};
	struct bench *bench = *state;

	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x98, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bench_erase_at(bench, 0xD8, rows[i].address);
		assert_int_equal(bench->chip.pending.address, rows[i].begin);
		assert_int_equal(bench->chip.pending.size_bytes, rows[i].size_bytes);
		bench_finish_work(bench);
		assert_int_equal(bench_status(bench), 0x00);
	}
}

static void sst26_is_busy_by_two_bits(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x06, 0);
	bench_op(bench, 0x98, 0);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench_status(bench), 0x83);
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

/* Locks of single blocks. */

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
	assert_int_equal(bench_status(bench), 0x14); /* some are locked */
	bench_erase_at(bench, 0xD8, 0x10000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_finish_work(bench);
	bench_erase_at(bench, 0xD8, 0x20000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	bench_erase_at(bench, 0x36, 0x10000);
	assert_int_equal(bench_status(bench), 0x1C);
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
	bench_erase_at(bench, 0xD8, 0x0000); /* others in that block are locked */
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

/* Erases that only look alike. */

static void mx25l6406e_erases_64_kib_by_52h(void **state)
{
	struct bench *bench = *state;
	uint8_t zero = 0;

	bench_program(bench, 0xFFFF, &zero, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x52, 0);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0xFFFF), 0xFF);
}

static void parameter_sectors_are_only_where_they_are(void **state)
{
	struct bench *bench = *state;

	bench_erase_at(bench, 0x20, 0x1F123);
	assert_int_equal(bench->facts.work, CHIP_WORK_ERASE);
	assert_int_equal(bench->chip.pending.address, 0x1F000);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x20, 0x20000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_REGION);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
}

static void page_erase_takes_a_page(void **state)
{
	struct bench *bench = *state;
	uint8_t zero = 0;

	bench_program(bench, 0xFF, &zero, 1);
	bench_finish_work(bench);
	bench_program(bench, 0x100, &zero, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x81, 0);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 0xFF), 0xFF);
	assert_int_equal(bench_read(bench, 0x100), 0x00);
}

/* Status registers. */

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

/* Power-up. */

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

/* Resets. */

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

static void reset_leaves_four_byte_mode(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0xB7, 0);
	bench_op(bench, 0x66, 0);
	bench_op(bench, 0x99, 0);
	bench->now_ns += 30 * US;
	bench_op_at(bench, 0x03, 0, 1);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
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

/* Suspending. */

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
		WITH(w25q256jv, four_byte_opcodes_reach_the_upper_half_in_any_mode),
		WITH(w25q256jv, address_mode_changes_what_a_read_takes),
		WITH(w25q256jv, address_mode_shows_in_its_register),
		WITH(s25fl128l, s25fl128l_takes_four_address_bytes_by_mode_and_by_opcode),
		WITH(mx25l25635f, extended_address_register_stands_for_the_fourth_byte),
		WITH(s25fl256s, bank_register_stands_for_the_fourth_byte_and_sets_the_mode),
		WITH(s25fl256s, bank_access_opens_01h_for_one_command),
		WITH(s25fl256s, refused_write_holds_s25fl_until_its_error_is_cleared),
		WITH(n25q128, flag_status_says_ready_and_keeps_errors_until_cleared),
		WITH(sst26vf064b, sst26_is_locked_until_its_global_unlock),
		WITH(sst26vf064b, sst26_erases_the_block_that_holds_the_address),
		WITH(sst26vf064b, sst26_is_busy_by_two_bits),
		WITH(sst26vf064b, sst26_locks_stand_in_its_register),
		WITH(sst26vf064b, sst26_locks_that_are_held_stay_until_the_power_goes),
		WITH(at25df641, at25df_locks_single_sectors),
		WITH(w25q128jv, winbond_locks_count_instead_of_ranges_where_its_bit_says_so),
		WITH(at25df641, at25df_is_unlocked_by_a_status_write),
		WITH(at25df641, at25df_with_its_register_locked_stays_as_it_is),
		WITH(mx25l6406e, mx25l6406e_erases_64_kib_by_52h),
		WITH(s25fl256s, parameter_sectors_are_only_where_they_are),
		WITH(p25q16h, page_erase_takes_a_page),
		WITH(w25q128jv, volatile_status_is_at_once_and_lost_with_the_power),
		WITH(w25q128jv, stored_status_survives_a_power_cycle),
		WITH(w25q128jv, command_within_tvsl_is_convicted),
		WITH(w25q128jv, write_within_tpuw_is_convicted_and_a_read_is_not),
		WITH(mt25ql128, reset_owes_the_wait_of_what_it_cut_off),
		WITH(w25q256jv, reset_leaves_four_byte_mode),
		WITH(n25q128, part_without_power_down_does_not_know_its_opcodes),
		WITH(w25q128jv, suspended_erase_lets_reads_through_and_goes_on_where_it_was),
		WITH(w25q128jv, suspended_erase_refuses_erases_and_programs_of_its_block),
		WITH(w25q128jv, suspend_of_an_idle_part_does_nothing),
		WITH(w25q128jv, chip_erase_cannot_be_suspended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
