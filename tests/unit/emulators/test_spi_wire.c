/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transfers byte by byte, each byte at its own time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench.h"

#define BYTE_NS UINT64_C(5714)
#define NOR_PAGE_BYTES 256
#define LONG_BYTES 3000

static void chip_select_falls(struct bench *bench)
{
	chip_select(&bench->chip, bench->now_ns);
}

static uint8_t byte_passes(struct bench *bench, uint8_t value)
{
	bench->now_ns += BYTE_NS;
	return chip_exchange(&bench->chip, bench->now_ns, value);
}

static void bytes_pass(struct bench *bench, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		byte_passes(bench, bytes[i]);
}

static void chip_select_rises(struct bench *bench)
{
	assert_true(chip_deselect(&bench->chip, bench->now_ns, &bench->facts));
}

static void stream(struct bench *bench, const uint8_t *bytes, size_t len)
{
	chip_select_falls(bench);
	bytes_pass(bench, bytes, len);
	chip_select_rises(bench);
}

static void stream_op(struct bench *bench, uint8_t opcode)
{
	stream(bench, &opcode, 1);
}

static void start_program(struct bench *bench)
{
	static const uint8_t program[] = {0x02, 0, 0, 0, 0x5A};

	stream_op(bench, 0x06);
	stream(bench, program, sizeof(program));
	assert_int_equal(bench->facts.work, CHIP_WORK_PROGRAM);
}

static void status_bytes_of_one_command_show_the_moment_of_each(void **state)
{
	struct bench bench;
	uint64_t done_ns;

	(void)state;
	bench_init(&bench, "W25Q128JV", "max");
	start_program(&bench);
	done_ns = bench.chip.busy_until_ns;
	chip_select_falls(&bench);
	byte_passes(&bench, 0x05);
	assert_int_equal(byte_passes(&bench, 0), STATUS_BUSY_AND_ENABLED);
	assert_int_equal(chip_exchange(&bench.chip, done_ns - 1, 0), STATUS_BUSY_AND_ENABLED);
	assert_int_equal(chip_exchange(&bench.chip, done_ns, 0), 0);
	bench.now_ns = done_ns;
	chip_select_rises(&bench);
	assert_string_equal(bench.facts.name, "RDSR");
	assert_int_equal(bench.facts.rule, CHIP_RULE_NONE);
	assert_int_equal(bench.facts.status, 0);
	bench_deinit(&bench);
}

static void status_bytes_of_a_whole_transfer_show_the_moment_of_each(void **state)
{
	static const uint8_t read_status[] = {0x05};
	struct bench bench;
	struct chip_transfer transfer = {.command = read_status, .command_len = 1, .reply_len = 9};

	(void)state;
	bench_init(&bench, "W25Q128JV", "max");
	start_program(&bench);
	transfer.start_ns = bench.chip.busy_until_ns - 8 * BYTE_NS;
	transfer.end_ns = transfer.start_ns + 10 * BYTE_NS;
	transfer.reply = bench.reply;
	chip_transfer(&bench.chip, &transfer, &bench.facts);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(bench.reply[i], STATUS_BUSY_AND_ENABLED);
	assert_int_equal(bench.reply[8], 0);
	bench_deinit(&bench);
}

static void write_enable_with_a_byte_too_many_is_ignored(void **state)
{
	static const uint8_t enable[] = {0x06, 0};
	static const uint8_t disable[] = {0x04, 0};
	struct bench bench;

	(void)state;
	bench_init(&bench, "MX25L6436F", "typ");
	stream(&bench, enable, sizeof(enable));
	assert_int_equal(bench.facts.rule, CHIP_RULE_LENGTH);
	assert_false(bench.chip.spi.write_enabled);
	stream_op(&bench, 0x06);
	stream(&bench, disable, sizeof(disable));
	assert_int_equal(bench.facts.rule, CHIP_RULE_LENGTH);
	assert_true(bench.chip.spi.write_enabled);
	bench_deinit(&bench);
}

static void program_begins_when_chip_select_rises(void **state)
{
	static const uint8_t program[] = {0x02, 0, 0, 0, 0x5A};
	struct bench bench;

	(void)state;
	bench_init(&bench, "W25Q128JV", "typ");
	stream_op(&bench, 0x06);
	chip_select_falls(&bench);
	bytes_pass(&bench, program, sizeof(program));
	bench.now_ns += 50 * MS;
	assert_int_equal(bench.chip.pending.work, CHIP_WORK_NONE);
	chip_select_rises(&bench);
	assert_int_equal(bench.facts.work, CHIP_WORK_PROGRAM);
	assert_int_equal(bench.facts.busy_until_ns, bench.now_ns + bench.facts.work_ns);
	bench_deinit(&bench);
}

static void wait_after_a_reset_counts_from_the_rise_of_chip_select(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, "W25Q128JV", "max");
	stream_op(&bench, 0x66);
	chip_select_falls(&bench);
	byte_passes(&bench, 0x99);
	bench.now_ns += 1 * MS; /* the part ignores a wait before the rise */
	chip_select_rises(&bench);
	bench.now_ns += 20 * US;
	stream_op(&bench, 0x9F);
	assert_int_equal(bench.facts.rule, CHIP_RULE_RESET);
	assert_int_equal(bench.facts.margin_ns, -10 * (int64_t)US);
	bench_deinit(&bench);
}

static void margin_is_that_of_the_fall_of_chip_select(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, "W25Q128JV", "max");
	start_program(&bench);
	bench.now_ns = bench.chip.busy_until_ns - 1;
	stream_op(&bench, 0x06);
	assert_int_equal(bench.facts.rule, CHIP_RULE_BUSY);
	assert_int_equal(bench.facts.margin_ns, -1);
	bench_deinit(&bench);
}

static void chip_select_without_a_byte_is_no_command(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, "W25Q128JV", "max");
	start_program(&bench);
	chip_select_falls(&bench);
	assert_false(chip_deselect(&bench.chip, bench.now_ns, &bench.facts));
	bench_deinit(&bench);
}

/* Bytes that a client drives while it reads are no data. */
static void read_is_as_that_of_a_whole_transfer(void **state)
{
	static const struct {
		const char *part;
		uint8_t command[8];
		size_t command_len;
	} reads[] = {
		{"W25Q128JV", {0x03, 0x00, 0x00, 0x03}, 4},
		{"W25Q128JV", {0x0B, 0x00, 0x00, 0x03, 0x00}, 5},
		{"W25Q128JV", {0x5A, 0x00, 0x00, 0x10, 0x00}, 5},
		{"W25Q128JV", {0x9F}, 1},
		{"W25Q128JV", {0x90, 0x00, 0x00, 0x01}, 4},
		{"W25Q128JV", {0xAB, 0x00, 0x00, 0x00}, 4},
		{"SST25VF040B", {0xAB, 0x00, 0x00, 0x00}, 4},
		{"SST26VF064B", {0x72}, 1},
		{"M95M02-DR", {0x83, 0x00, 0x00, 0x00}, 4},
		{"AT45DB321D", {0xE8, 0x00, 0x02, 0x08, 0, 0, 0, 0}, 8},
		{"AT45DB321D", {0xD2, 0x00, 0x02, 0x08, 0, 0, 0, 0}, 8},
		{"AT45DB321D", {0xD4, 0x00, 0x02, 0x08, 0x00}, 5},
	};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		bench_init(&bench, reads[i].part, "max");
		bench_send(&bench, reads[i].command, reads[i].command_len, 24);
		assert_int_equal(bench.facts.rule, CHIP_RULE_NONE);
		chip_select_falls(&bench);
		bytes_pass(&bench, reads[i].command, reads[i].command_len);
		for (size_t at = 0; at < 24; at++)
			assert_int_equal(byte_passes(&bench, 0xFF), bench.reply[at]);
		chip_select_rises(&bench);
		assert_int_equal(bench.facts.rule, CHIP_RULE_NONE);
		bench_deinit(&bench);
	}
}

static void page_that_is_overrun_has_its_last_bytes(void **state)
{
	struct bench bench;
	uint8_t program[4 + LONG_BYTES] = {0x02, 0, 0, 7};

	(void)state;
	bench_init(&bench, "W25Q128JV", "typ");
	for (size_t i = 0; i < LONG_BYTES; i++)
		program[4 + i] = (uint8_t)(i * 7 / 5);
	stream_op(&bench, 0x06);
	stream(&bench, program, sizeof(program));
	bench.now_ns = bench.chip.busy_until_ns;
	bench_op_at(&bench, 0x03, 0, NOR_PAGE_BYTES);
	for (size_t i = LONG_BYTES - NOR_PAGE_BYTES; i < LONG_BYTES; i++)
		assert_int_equal(bench.reply[(7 + i) % NOR_PAGE_BYTES], program[4 + i]);
	bench_deinit(&bench);
}

static void erase_with_a_byte_too_many_is_refused(void **state)
{
	static const uint8_t erase[] = {0x20, 0, 0, 0, 0};
	struct bench bench;

	(void)state;
	bench_init(&bench, "W25Q128JV", "typ");
	stream_op(&bench, 0x06);
	stream(&bench, erase, sizeof(erase));
	assert_int_equal(bench.facts.rule, CHIP_RULE_LENGTH);
	bench_deinit(&bench);
}

static void command_in_which_power_is_lost_does_nothing(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, "W25Q128JV", "typ");
	chip_select_falls(&bench);
	byte_passes(&bench, 0x06);
	chip_power_cycle(&bench.chip, bench.now_ns);
	assert_int_equal(byte_passes(&bench, 0), 0xFF);
	chip_select_rises(&bench);
	assert_false(bench.chip.spi.write_enabled);
	bench_deinit(&bench);
}

static void command_that_is_refused_drives_nothing(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, "W25Q128JV", "max");
	start_program(&bench);
	chip_select_falls(&bench);
	byte_passes(&bench, 0x9F);
	assert_int_equal(byte_passes(&bench, 0), 0xFF);
	chip_select_rises(&bench);
	assert_int_equal(bench.facts.rule, CHIP_RULE_BUSY);
	bench_deinit(&bench);
}

static void preview_is_what_the_next_byte_brings_and_leaves_no_trace(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, "W25Q128JV", "max");
	chip_select_falls(&bench);
	assert_int_equal(chip_preview(&bench.chip, bench.now_ns), 0xFF);
	byte_passes(&bench, 0x9F);
	assert_int_equal(chip_preview(&bench.chip, bench.now_ns), 0xEF);
	assert_int_equal(chip_preview(&bench.chip, bench.now_ns), 0xEF);
	assert_int_equal(byte_passes(&bench, 0), 0xEF);
	assert_int_equal(chip_preview(&bench.chip, bench.now_ns), 0x40);
	chip_select_rises(&bench);
	bench_deinit(&bench);
}

static void command_that_is_cut_short_does_nothing(void **state)
{
	struct bench bench;

	(void)state;
	bench_init(&bench, "W25Q128JV", "max");
	chip_select_falls(&bench);
	byte_passes(&bench, 0x06);
	chip_cut_short(&bench.chip);
	chip_select_rises(&bench);
	assert_int_equal(bench.facts.rule, CHIP_RULE_LENGTH);
	assert_int_equal(bench.facts.status, 0);
	bench_deinit(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_bytes_of_one_command_show_the_moment_of_each),
		cmocka_unit_test(status_bytes_of_a_whole_transfer_show_the_moment_of_each),
		cmocka_unit_test(write_enable_with_a_byte_too_many_is_ignored),
		cmocka_unit_test(program_begins_when_chip_select_rises),
		cmocka_unit_test(wait_after_a_reset_counts_from_the_rise_of_chip_select),
		cmocka_unit_test(margin_is_that_of_the_fall_of_chip_select),
		cmocka_unit_test(chip_select_without_a_byte_is_no_command),
		cmocka_unit_test(read_is_as_that_of_a_whole_transfer),
		cmocka_unit_test(page_that_is_overrun_has_its_last_bytes),
		cmocka_unit_test(erase_with_a_byte_too_many_is_refused),
		cmocka_unit_test(command_in_which_power_is_lost_does_nothing),
		cmocka_unit_test(command_that_is_refused_drives_nothing),
		cmocka_unit_test(preview_is_what_the_next_byte_brings_and_leaves_no_trace),
		cmocka_unit_test(command_that_is_cut_short_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
