/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aai.h"

#include <errno.h>

#include "part_bench.h"
#include "spi25.h"
#include "wire.h"

#define PART "SST25VF040B"
#define STATUS_PROTECTED 0x3c

static const char *const corners[] = {"min", "typ", "max"};

/* Scatters changes of any length at odd and even addresses, with blank words in them. */
static void scatter(struct part_bench *bench, uint32_t seed)
{
	for (uint32_t at = 0; at < 0x3000; at += 7 + seed % 13) {
		const uint32_t length = seed % 5;

		memset(bench->image + at, seed % 3 == 0 ? 0xff : (uint8_t)seed, length);
		seed = seed * 1103515245 + 12345;
		seed ^= seed >> 16;
	}
}

static void words_and_odd_bytes_are_programmed_at_every_corner(void **state)
{
	struct part_bench bench;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		part_bench_start(&bench, PART, corners[i]);
		part_bench_find(&bench, NULL);
		memset(bench.image + 0x2000, 0xff, 0x4000);
		part_bench_write(&bench);
		for (uint32_t seed = 1; seed <= 8; seed++) {
			scatter(&bench, seed);
			part_bench_write(&bench);
		}
		assert_int_equal(dummy_violations(bench.part), 0);
		part_bench_stop(&bench);
	}
}

static void protection_of_power_up_is_lifted_and_put_back(void **state)
{
	struct part_bench bench;
	uint8_t status;

	(void)state;
	part_bench_start(&bench, PART, "typ");
	status = part_bench_ask(&bench, 0x05);
	assert_int_not_equal(status & STATUS_PROTECTED, 0);
	part_bench_find(&bench, PART);
	bench.image[0] ^= 0xff;
	part_bench_write(&bench);
	assert_int_equal(part_bench_ask(&bench, 0x05), status);
	assert_int_equal(dummy_violations(bench.part), 0);
	part_bench_stop(&bench);
}

static void unprotect_part(struct part_bench *bench)
{
	PART_BENCH_SEND(bench, 0x50);
	PART_BENCH_SEND(bench, 0x01, 0x00);
	PART_BENCH_SEND(bench, 0x06);
}

/* In this mode the part does not answer RDID; during a word's program it ignores WRDI, too. */
static void mode_that_a_session_left_on_is_ended(void **state)
{
	static const char *const names[] = {PART, NULL};
	struct part_bench bench;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		part_bench_start(&bench, PART, "max");
		memset(bench.image + 0x100, 0xff, 0x100);
		dummy_content_write(bench.part, bench.image);
		unprotect_part(&bench);
		PART_BENCH_SEND(&bench, 0xad, 0x00, 0x01, 0x00, 0x12, 0x34);
		assert_int_equal(part_bench_ask(&bench, 0x05) & 0x41, 0x41);
		part_bench_find(&bench, names[i]);
		assert_int_equal(part_bench_ask(&bench, 0x05) & 0x41, 0x00);
		bench.image[0x100] = 0x12;
		bench.image[0x101] = 0x34;
		part_bench_assert_holds_image(&bench);
		assert_int_equal(dummy_violations(bench.part), 0);
		part_bench_stop(&bench);
	}
}

static void erase_that_a_session_left_going_is_waited_for(void **state)
{
	struct part_bench bench;

	(void)state;
	part_bench_start(&bench, PART, "max");
	unprotect_part(&bench);
	PART_BENCH_SEND(&bench, 0xc7);
	part_bench_find(&bench, NULL);
	memset(bench.image, 0xff, bench.size_bytes);
	part_bench_assert_holds_image(&bench);
	assert_int_equal(dummy_violations(bench.part), 0);
	part_bench_stop(&bench);
}

static int program_some(struct part_bench *bench)
{
	static const uint8_t data[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};

	return aai_driver.program(&bench->flash, 0x101, data, sizeof(data));
}

static void blank_and_unprotected(struct part_bench *bench, const char *corner)
{
	part_bench_start(bench, PART, corner);
	memset(bench->image, 0xff, bench->size_bytes);
	dummy_content_write(bench->part, bench->image);
	part_bench_find(bench, PART);
	assert_int_equal(aai_driver.unprotect(&bench->flash, false), 0);
}

static unsigned int commands_of_program(void)
{
	struct part_bench bench;
	unsigned int before;

	blank_and_unprotected(&bench, "typ");
	before = bench.commands;
	assert_int_equal(program_some(&bench), 0);
	part_bench_stop(&bench);
	return bench.commands - before;
}

/*
 * One command gets lost, before or after the part gets it. The part can be read at once. No source
 * gives the longest times, which the driver waits for when it cannot ask: so typical ones.
 */
static void mode_is_left_after_every_error(void **state)
{
	const unsigned int commands = commands_of_program();
	struct part_bench bench;
	uint8_t byte;

	(void)state;
	assert_true(commands > 12);
	for (unsigned int i = 0; i < 2 * commands; i++) {
		blank_and_unprotected(&bench, "typ");
		bench.fail_countdown = 1 + i / 2;
		bench.lost_after = i % 2 == 0;
		assert_int_equal(program_some(&bench), -EIO);
		assert_int_equal(spi25_read(&bench.flash, 0x100, &byte, 1), 0);
		assert_int_equal(dummy_violations(bench.part), 0);
		part_bench_stop(&bench);
	}
}

/* A command fails during a long write. It must leave the part as it was found. */
static void write_that_fails_leaves_neither_mode_nor_protection_behind(void **state)
{
	const struct range range = {0, 0x4000};
	const struct selection selection = {&range, 1};
	struct part_bench bench;
	uint8_t status;

	(void)state;
	for (unsigned int nth = 1000; nth < 1010; nth++) {
		part_bench_start(&bench, PART, "typ");
		status = part_bench_ask(&bench, 0x05);
		part_bench_find(&bench, PART);
		part_bench_noise(bench.image, 0x4000, 2);
		bench.fail_countdown = nth;
		assert_int_equal(
			flash_write(&bench.flash, selection, bench.image, VERIFY_TOUCHED, false),
			-EIO);
		assert_int_equal(part_bench_ask(&bench, 0x05), status);
		assert_int_equal(dummy_violations(bench.part), 0);
		part_bench_stop(&bench);
	}
}

/* Answers as a part that takes a little longer at the end of the mode. */
static int answer_slowly(
	struct wire *wire, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	const bool busy = wire->now_ns < wire->busy_until_ns;

	(void)tx_bytes;
	if (tx[0] == 0x05)
		memset(rx, busy ? 0x01 : 0x00, rx_bytes);
	else
		wire->sent_while_busy += busy;
	if (tx[0] == 0x04 || tx[0] == 0xad)
		wire->busy_until_ns = wire->now_ns + 10 * NS_PER_US;
	return 0;
}

static void end_of_the_mode_is_waited_for(void **state)
{
	static const uint8_t data[] = {1, 2};
	struct wire wire;
	uint8_t byte;

	(void)state;
	wire_start(&wire, PART, answer_slowly);
	assert_int_equal(aai_driver.program(&wire.flash, 0, data, sizeof(data)), 0);
	assert_int_equal(spi25_read(&wire.flash, 0, &byte, 1), 0);
	assert_int_equal(wire.sent_while_busy, 0);
}

static int answer_ready(
	struct wire *wire, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	(void)wire;
	(void)tx_bytes;
	if (tx[0] == 0x05)
		memset(rx, 0x00, rx_bytes);
	return 0;
}

/* Older revisions accept only 50h as the enable before a status write. */
static void status_write_is_enabled_by_an_opcode_of_its_own(void **state)
{
	struct wire wire;

	(void)state;
	wire_start(&wire, PART, answer_ready);
	assert_int_equal(spi25_status_write(&wire.flash, 0x1c), 0);
	ASSERT_WIRE_SENT(&wire, 0, 0x50);
	ASSERT_WIRE_SENT(&wire, 0, 0x01, 0x1c);
	assert_int_equal(wire_count(&wire, 0x06), 0);
}

/* To program one blank word is cheaper than to leave the mode and return; two are dearer. */
static void blank_words_are_left_out_where_that_is_shorter(void **state)
{
	static const uint8_t data[] = {
		0xff, /* blank byte at an odd address */
		0xff,
		0xff, /* blank word at the beginning */
		1,
		2,
		0xff,
		0xff,
		3,
		0xff, /* one blank word in the middle */
		0xff,
		0xff,
		0xff,
		0xff,
		4,
		5, /* two blank words */
		0xff,
		0xff,
		6, /* a blank word at the end, then a single byte */
	};
	struct wire wire;

	(void)state;
	wire_start(&wire, PART, answer_ready);
	assert_int_equal(aai_driver.program(&wire.flash, 0x1001, data, sizeof(data)), 0);
	assert_int_equal(wire_count(&wire, 0xad), 4);
	ASSERT_WIRE_SENT(&wire, 0, 0xad, 0x00, 0x10, 0x04, 1, 2);
	ASSERT_WIRE_SENT(&wire, 1, 0xad, 0xff, 0xff);
	ASSERT_WIRE_SENT(&wire, 2, 0xad, 3, 0xff);
	ASSERT_WIRE_SENT(&wire, 3, 0xad, 0x00, 0x10, 0x0e, 4, 5);
	assert_int_equal(wire_count(&wire, 0x04), 2);
	assert_int_equal(wire_count(&wire, 0x02), 1);
	ASSERT_WIRE_SENT(&wire, 0, 0x02, 0x00, 0x10, 0x12, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_odd_bytes_are_programmed_at_every_corner),
		cmocka_unit_test(protection_of_power_up_is_lifted_and_put_back),
		cmocka_unit_test(mode_that_a_session_left_on_is_ended),
		cmocka_unit_test(erase_that_a_session_left_going_is_waited_for),
		cmocka_unit_test(mode_is_left_after_every_error),
		cmocka_unit_test(write_that_fails_leaves_neither_mode_nor_protection_behind),
		cmocka_unit_test(end_of_the_mode_is_waited_for),
		cmocka_unit_test(status_write_is_enabled_by_an_opcode_of_its_own),
		cmocka_unit_test(blank_words_are_left_out_where_that_is_shorter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
