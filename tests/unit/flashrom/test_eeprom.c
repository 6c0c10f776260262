/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "fake_registers.h"
#include "part_bench.h"
#include "spi25.h"

#define PART "M95M02-DR"
#define NAME "M95M02"

FIXTURE(part_bench, NOTHING, part_bench_stop);
FIXTURE(fake_registers, fake_registers_start, NOTHING);

static const char *const corners[] = {"min", "typ", "max"};

static void pages_are_overwritten_without_erase_at_every_corner(struct part_bench *bench)
{
	for (size_t i = 0; i < 3; i++) {
		part_bench_start(bench, PART, corners[i]);
		part_bench_find(bench, NULL);
		assert_string_equal(bench->flash.chip->name, NAME);
		part_bench_noise(bench->image + 0x1234, 1000, 2);
		memset(bench->image + 0x20000, 0xff, 5000);
		bench->image[bench->size_bytes - 1] ^= 0xff;
		part_bench_write(bench);
	}
}

static void write_of_an_earlier_session_is_waited_for(struct part_bench *bench)
{
	part_bench_start(bench, PART, "max");
	PART_BENCH_SEND(bench, 0x06);
	PART_BENCH_SEND(bench, 0x02, 0x00, 0x00, 0x00, 0x77);
	part_bench_find(bench, NULL);
	bench->image[0] = 0x77;
	part_bench_assert_holds_image(bench);
}

static void error_of_programmer_ends_the_write(struct part_bench *bench)
{
	for (unsigned int nth = 1; nth <= 3; nth++) {
		part_bench_start(bench, PART, "typ");
		part_bench_find(bench, NAME);
		bench->fail_countdown = nth; /* write enable, write, status */
		assert_int_equal(
			bench->flash.chip->driver->program(&bench->flash, 0, bench->image, 256),
			-EIO);
	}
}

static void assert_id(struct fake_registers *fake, uint32_t expected)
{
	uint32_t id = 0;

	assert_int_equal(eeprom_id.ask(&fake->flash, &fake->chip, &id), 0);
	assert_int_equal(id, expected);
}

static void part_that_answers_rdid_is_not_sent_83h(struct fake_registers *fake)
{
	fake_part(fake, NAME);
	memcpy(fake->answers[0x9f], (const uint8_t[]){0x1f, 0x26, 0x00}, 3);
	assert_id(fake, 0x1f2600);
	assert_null(strstr(fake->sent, "83"));
}

/* An AT45DB321B has no RDID; a resistor pulls the data line up or down. */
static void dataflash_without_rdid_is_not_sent_83h(struct fake_registers *fake)
{
	static const uint8_t pulls[] = {0x00, 0xff};

	for (size_t i = 0; i < COUNT(pulls); i++) {
		fake_part(fake, NAME);
		memset(fake->answers, pulls[i], sizeof(fake->answers));
		assert_id(fake, pulls[i] * 0x010101u);
		assert_null(strstr(fake->sent, "83"));
	}
}

static void write_enable_for_identification_waits_for_power_up(struct fake_registers *fake)
{
	const char *write_enable;

	fake_part_just_powered(fake, NAME);
	memset(fake->answers, 0xff, sizeof(fake->answers));
	assert_id(fake, 0xffffff);
	write_enable = strstr(fake->sent, "06; ");
	assert_non_null(write_enable);
	assert_null(strstr(write_enable + 1, "06; "));
	assert_write_power_awaited(fake);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(part_bench, pages_are_overwritten_without_erase_at_every_corner),
	CASE_ON(part_bench, write_of_an_earlier_session_is_waited_for),
	CASE_ON(part_bench, error_of_programmer_ends_the_write),
	CASE_ON(fake_registers, part_that_answers_rdid_is_not_sent_83h),
	CASE_ON(fake_registers, dataflash_without_rdid_is_not_sent_83h),
	CASE_ON(fake_registers, write_enable_for_identification_waits_for_power_up),
};

RUN_CASES(tests)
