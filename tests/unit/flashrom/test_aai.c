/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "fake_registers.h"
#include "part_bench.h"
#include "spi25.h"

#define PART "SST25VF040B"
#define STATUS_PROTECTED 0x3c

FIXTURE(part_bench, NOTHING, part_bench_stop);
FIXTURE(fake_registers, fake_registers_start, NOTHING);

static const char *const corners[] = {"min", "typ", "max"};

/* Changes the image at odd and even addresses: 0 to 4 equal bytes each, some of them blank. */
static void scatter(struct part_bench *bench, uint32_t seed)
{
	for (uint32_t at = 0; at < 0x3000; at += 7 + seed % 13) {
		const uint32_t length = seed % 5;

		memset(bench->image + at, seed % 3 == 0 ? 0xff : (uint8_t)seed, length);
		seed = seed * 1103515245 + 12345;
		seed ^= seed >> 16;
	}
}

static void words_and_odd_bytes_are_programmed_at_every_corner(struct part_bench *bench)
{
	for (size_t i = 0; i < COUNT(corners); i++) {
		part_bench_start(bench, PART, corners[i]);
		part_bench_find(bench, NULL);
		memset(bench->image + 0x2000, 0xff, 0x4000);
		part_bench_write(bench);
		for (uint32_t seed = 1; seed <= 8; seed++) {
			scatter(bench, seed);
			part_bench_write(bench);
		}
	}
}

static void protection_set_at_power_up_is_lifted_and_restored(struct part_bench *bench)
{
	uint8_t status;

	part_bench_start(bench, PART, "typ");
	status = part_bench_ask(bench, 0x05);
	assert_int_not_equal(status & STATUS_PROTECTED, 0);
	part_bench_find(bench, PART);
	bench->image[0] ^= 0xff;
	part_bench_write(bench);
	assert_int_equal(part_bench_ask(bench, 0x05), status);
}

static void unprotect_part(struct part_bench *bench)
{
	PART_BENCH_SEND(bench, 0x50);
	PART_BENCH_SEND(bench, 0x01, 0x00);
	PART_BENCH_SEND(bench, 0x06);
}

/* In AAI mode the part does not answer RDID. While it programs a word it also ignores WRDI. */
static void aai_mode_of_an_earlier_session_is_ended(struct part_bench *bench)
{
	static const char *const names[] = {PART, NULL};

	for (size_t i = 0; i < 2; i++) {
		part_bench_start(bench, PART, "max");
		memset(bench->image + 0x100, 0xff, 0x100);
		dummy_content_write(bench->part, bench->image);
		unprotect_part(bench);
		PART_BENCH_SEND(bench, 0xad, 0x00, 0x01, 0x00, 0x12, 0x34);
		assert_int_equal(part_bench_ask(bench, 0x05) & 0x41, 0x41);
		part_bench_find(bench, names[i]);
		assert_int_equal(part_bench_ask(bench, 0x05) & 0x41, 0x00);
		bench->image[0x100] = 0x12;
		bench->image[0x101] = 0x34;
		part_bench_assert_holds_image(bench);
	}
}

static void erase_left_running_by_an_earlier_session_is_waited_for(struct part_bench *bench)
{
	part_bench_start(bench, PART, "max");
	unprotect_part(bench);
	PART_BENCH_SEND(bench, 0xc7);
	part_bench_find(bench, NULL);
	memset(bench->image, 0xff, bench->size_bytes);
	part_bench_assert_holds_image(bench);
}

static int program_bytes(struct part_bench *bench)
{
	static const uint8_t data[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};

	return aai_driver.program(&bench->flash, 0x101, data, sizeof(data));
}

static void start_blank_and_unprotected(struct part_bench *bench, const char *corner)
{
	part_bench_start(bench, PART, corner);
	memset(bench->image, 0xff, bench->size_bytes);
	dummy_content_write(bench->part, bench->image);
	part_bench_find(bench, PART);
	assert_int_equal(aai_driver.unprotect(&bench->flash, false), 0);
}

static unsigned int count_commands_of_program(struct part_bench *bench)
{
	unsigned int before;

	start_blank_and_unprotected(bench, "typ");
	before = bench->commands;
	assert_int_equal(program_bytes(bench), 0);
	return bench->commands - before;
}

/*
 * One command fails, before or after the part receives it. The part can be read at once afterwards.
 * Busy times are typical: no datasheet gives the maximum for which the driver waits after an error.
 */
static void aai_mode_is_ended_after_every_error(struct part_bench *bench)
{
	const unsigned int commands = count_commands_of_program(bench);
	uint8_t byte;

	assert_true(commands > 12);
	for (unsigned int i = 0; i < 2 * commands; i++) {
		start_blank_and_unprotected(bench, "typ");
		bench->fail_countdown = 1 + i / 2;
		bench->lost_after = i % 2 == 0;
		assert_int_equal(program_bytes(bench), -EIO);
		assert_int_equal(spi25_read(&bench->flash, 0x100, &byte, 1), 0);
	}
}

/* A long write in which a command fails must leave the status as it was found. */
static void failed_write_ends_aai_mode_and_restores_protection(struct part_bench *bench)
{
	const struct range range = {0, 0x4000};
	const struct selection selection = {&range, 1};
	uint8_t status;

	for (unsigned int nth = 1000; nth < 1010; nth++) {
		part_bench_start(bench, PART, "typ");
		status = part_bench_ask(bench, 0x05);
		part_bench_find(bench, PART);
		part_bench_noise(bench->image, 0x4000, 2);
		bench->fail_countdown = nth;
		assert_int_equal(flash_write(&bench->flash, selection, bench->image, NULL,
					 VERIFY_TOUCHED, false),
			-EIO);
		assert_int_equal(part_bench_ask(bench, 0x05), status);
	}
}

/* Makes the part busy for 10 us after a word program, and also after WRDI. */
static void obey_slowly(struct fake_registers *fake, const uint8_t *tx, size_t tx_bytes)
{
	(void)tx_bytes;
	if (tx[0] == 0x04 || tx[0] == 0xad)
		fake->busy_until_ns = fake->now_ns + 10 * NS_PER_US;
}

static void driver_waits_for_the_end_of_aai_mode(struct fake_registers *fake)
{
	static const uint8_t data[] = {1, 2};
	uint8_t byte;

	fake_part(fake, PART);
	fake->obey = obey_slowly;
	assert_int_equal(aai_driver.program(&fake->flash, 0, data, sizeof(data)), 0);
	assert_int_equal(spi25_read(&fake->flash, 0, &byte, 1), 0);
	assert_int_equal(fake->sent_while_busy, 0);
}

/* Older revisions accept only 50h as the write enable of a status write. */
static void status_write_is_enabled_by_50h(struct fake_registers *fake)
{
	fake_part(fake, PART);
	assert_int_equal(fake_write_status(fake, 0x1c), 0);
	assert_sent(fake, "05; 50; 01 1c; 05; ");
}

/* One blank word costs less than leaving AAI mode and entering it again; two cost more. */
static void blank_words_are_skipped_if_that_saves_commands(struct fake_registers *fake)
{
	/* clang-format off */
	static const uint8_t data[] = {
		0xff,       /* blank byte at an odd address */
		0xff, 0xff, /* blank word at the beginning */
		1, 2,
		0xff, 0xff,
		3, 0xff, /* one blank word in the middle */
		0xff, 0xff, 0xff, 0xff,
		4, 5, /* two blank words */
		0xff, 0xff,
		6, /* a blank word at the end, then a single byte */
	};
	/* clang-format on */

	fake_part(fake, PART);
	assert_int_equal(aai_driver.program(&fake->flash, 0x1001, data, sizeof(data)), 0);
	assert_sent(fake, "06; ad 00 10 04 01 02; 05; ad ff ff; 05; ad 03 ff; 05; 04; 05; "
			  "06; ad 00 10 0e 04 05; 05; 04; 05; "
			  "06; 02 00 10 12 06; 05; ");
}

static const struct CMUnitTest tests[] = {
	CASE_ON(part_bench, words_and_odd_bytes_are_programmed_at_every_corner),
	CASE_ON(part_bench, protection_set_at_power_up_is_lifted_and_restored),
	CASE_ON(part_bench, aai_mode_of_an_earlier_session_is_ended),
	CASE_ON(part_bench, erase_left_running_by_an_earlier_session_is_waited_for),
	CASE_ON(part_bench, aai_mode_is_ended_after_every_error),
	CASE_ON(part_bench, failed_write_ends_aai_mode_and_restores_protection),
	CASE_ON(fake_registers, driver_waits_for_the_end_of_aai_mode),
	CASE_ON(fake_registers, status_write_is_enabled_by_50h),
	CASE_ON(fake_registers, blank_words_are_skipped_if_that_saves_commands),
};

RUN_CASES(tests)
