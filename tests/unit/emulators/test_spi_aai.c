/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"

#define STATUS_AAI 0x40
#define STATUS_BUSY 0x01
#define STATUS_WEL 0x02

BENCH_SET_UP(sst25vf040b, "SST25VF040B")

static void write_status(struct bench *bench, uint8_t enable_opcode, uint8_t value)
{
	uint8_t command[] = {0x01, value};

	bench_op(bench, enable_opcode, 0);
	bench_send(bench, command, sizeof(command), 0);
}

static void unprotect(struct bench *bench)
{
	write_status(bench, 0x50, 0x00);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void send_first_word(struct bench *bench, uint32_t address, uint8_t a, uint8_t b)
{
	uint8_t command[] = {
		0xAD, (uint8_t)(address >> 16), (uint8_t)(address >> 8), (uint8_t)address, a, b};

	bench_send(bench, command, sizeof(command), 0);
}

static void send_next_word(struct bench *bench, uint8_t a, uint8_t b)
{
	uint8_t command[] = {0xAD, a, b};

	bench_send(bench, command, sizeof(command), 0);
}

static void part_protects_all_when_power_comes(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(bench_status(bench), 0x1C);
	bench_erase_at(bench, 0x20, 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
}

static void status_write_takes_effect_at_once_by_either_enable(void **state)
{
	static const uint8_t enables[] = {0x50, 0x06};
	struct bench *bench = *state;

	for (size_t i = 0; i < sizeof(enables); i++) {
		write_status(bench, enables[i], 0x0C);
		assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
		assert_int_equal(bench_status(bench), 0x0C);
		write_status(bench, enables[i], 0x00);
		assert_int_equal(bench_status(bench), 0x00);
	}
}

static void status_write_must_follow_its_enable_directly(void **state)
{
	struct bench *bench = *state;
	uint8_t command[] = {0x01, 0x00};

	bench_op(bench, 0x50, 0);
	bench_op(bench, 0x9F, 3);
	bench_send(bench, command, sizeof(command), 0);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
	assert_int_equal(bench_status(bench), 0x1C);
}

static void status_is_lost_with_the_power(void **state)
{
	struct bench *bench = *state;

	unprotect(bench);
	chip_power_cycle(&bench->chip, bench->now_ns);
	bench->now_ns += 1 * MS;
	assert_int_equal(bench_status(bench), 0x1C);
}

static void byte_program_takes_one_byte_and_no_two(void **state)
{
	static const uint8_t data[] = {0x12, 0x34};
	struct bench *bench = *state;

	unprotect(bench);
	bench_program(bench, 7, data, 1);
	assert_int_equal(bench->facts.work_ns, 7 * US);
	bench_finish_work(bench);
	assert_int_equal(bench_read(bench, 7), 0x12);
	assert_int_equal(bench_status(bench), 0x00);
	bench_program(bench, 8, data, 2);
	assert_int_equal(bench->facts.rule, CHIP_RULE_LENGTH);
	assert_int_equal(bench_read(bench, 8), 0xFF);
}

static void words_go_to_addresses_that_count_up(void **state)
{
	struct bench *bench = *state;

	unprotect(bench);
	bench_op(bench, 0x06, 0);
	send_first_word(bench, 0x100, 0x01, 0x02);
	assert_int_equal(bench->facts.address, 0x100);
	assert_int_equal(bench_status(bench), STATUS_AAI | STATUS_WEL | STATUS_BUSY);
	bench_finish_work(bench);
	send_next_word(bench, 0x03, 0x04);
	assert_int_equal(bench->facts.address, 0x102);
	assert_int_equal(bench->facts.work_ns, 7 * US);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), STATUS_AAI | STATUS_WEL);
	bench_op(bench, 0x04, 0);
	assert_int_equal(bench_status(bench), 0x00);
	bench_op_at(bench, 0x03, 0x100, 5);
	assert_memory_equal(bench->reply, ((uint8_t[]){0x01, 0x02, 0x03, 0x04, 0xFF}), 5);
}

static void word_one_ns_early_is_convicted_and_on_time_is_not(void **state)
{
	struct bench *bench = *state;

	unprotect(bench);
	bench_op(bench, 0x06, 0);
	send_first_word(bench, 0, 0x01, 0x02);
	bench->now_ns += 7 * US - 1;
	send_next_word(bench, 0x03, 0x04);
	assert_int_equal(bench->facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench->facts.margin_ns, -1);
	bench->now_ns += 1;
	send_next_word(bench, 0x03, 0x04);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench->facts.address, 2);
}

static void first_word_at_an_odd_address_is_refused(void **state)
{
	struct bench *bench = *state;

	unprotect(bench);
	bench_op(bench, 0x06, 0);
	send_first_word(bench, 0x101, 0x01, 0x02);
	assert_int_equal(bench->facts.rule, CHIP_RULE_AAI);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
	assert_int_equal(bench_status(bench), STATUS_WEL);
}

static void other_commands_between_words_are_refused(void **state)
{
	static const uint8_t opcodes[] = {0x03, 0x9F, 0x06, 0x20, 0x60, 0x70, 0x80};
	struct bench *bench = *state;

	unprotect(bench);
	bench_op(bench, 0x06, 0);
	send_first_word(bench, 0, 0x01, 0x02);
	bench_finish_work(bench);
	for (size_t i = 0; i < sizeof(opcodes); i++) {
		bench_op_at(bench, opcodes[i], 0, 1);
		assert_int_equal(bench->facts.rule, CHIP_RULE_AAI);
		assert_int_equal(bench->reply[0], 0xFF);
	}
	send_next_word(bench, 0x03, 0x04);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

static void word_without_write_enable_is_refused(void **state)
{
	struct bench *bench = *state;

	unprotect(bench);
	send_first_word(bench, 0, 0x01, 0x02);
	assert_int_equal(bench->facts.rule, CHIP_RULE_WEL);
}

static void words_end_where_protection_begins(void **state)
{
	struct bench *bench = *state;

	write_status(bench, 0x50, 0x04); /* the highest 64 KiB */
	bench_op(bench, 0x06, 0);
	send_first_word(bench, 0x6FFFE, 0x01, 0x02);
	bench_finish_work(bench);
	send_next_word(bench, 0x03, 0x04);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	assert_int_equal(bench_status(bench) & STATUS_AAI, 0);
}

static void last_word_of_the_part_ends_the_mode(void **state)
{
	struct bench *bench = *state;

	unprotect(bench);
	bench_op(bench, 0x06, 0);
	send_first_word(bench, 0x7FFFE, 0x01, 0x02);
	bench_finish_work(bench);
	assert_int_equal(bench_status(bench), 0x00);
}

static void id_is_read_by_any_of_three_commands(void **state)
{
	struct bench *bench = *state;

	bench_op(bench, 0x9F, 3);
	assert_memory_equal(bench->reply, ((uint8_t[]){0xBF, 0x25, 0x8D}), 3);
	bench_op_at(bench, 0x90, 0, 2);
	assert_memory_equal(bench->reply, ((uint8_t[]){0xBF, 0x8D}), 2);
	bench_op_at(bench, 0xAB, 1, 2);
	assert_memory_equal(bench->reply, ((uint8_t[]){0x8D, 0xBF}), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(sst25vf040b, part_protects_all_when_power_comes),
		WITH(sst25vf040b, status_write_takes_effect_at_once_by_either_enable),
		WITH(sst25vf040b, status_write_must_follow_its_enable_directly),
		WITH(sst25vf040b, status_is_lost_with_the_power),
		WITH(sst25vf040b, byte_program_takes_one_byte_and_no_two),
		WITH(sst25vf040b, words_go_to_addresses_that_count_up),
		WITH(sst25vf040b, word_one_ns_early_is_convicted_and_on_time_is_not),
		WITH(sst25vf040b, first_word_at_an_odd_address_is_refused),
		WITH(sst25vf040b, other_commands_between_words_are_refused),
		WITH(sst25vf040b, word_without_write_enable_is_refused),
		WITH(sst25vf040b, words_end_where_protection_begins),
		WITH(sst25vf040b, last_word_of_the_part_ends_the_mode),
		WITH(sst25vf040b, id_is_read_by_any_of_three_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
