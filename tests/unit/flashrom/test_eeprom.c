/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "eeprom.h"

#include <errno.h>

#include "part_bench.h"
#include "spi25.h"
#include "wire.h"

#define PART "M95M02-DR"
#define NAME "M95M02"

static const char *const corners[] = {"min", "typ", "max"};

static void pages_are_overwritten_without_erase_at_every_corner(void **state)
{
	struct part_bench bench;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		part_bench_start(&bench, PART, corners[i]);
		part_bench_find(&bench, NULL);
		assert_string_equal(bench.flash.chip->name, NAME);
		part_bench_noise(bench.image + 0x1234, 1000, 2);
		memset(bench.image + 0x20000, 0xff, 5000);
		bench.image[bench.size_bytes - 1] ^= 0xff;
		part_bench_write(&bench);
		assert_int_equal(dummy_violations(bench.part), 0);
		part_bench_stop(&bench);
	}
}

static void erase_leaves_ff(void **state)
{
	static const struct range whole = {0, 262144};
	struct part_bench bench;

	(void)state;
	part_bench_start(&bench, PART, "typ");
	part_bench_find(&bench, NAME);
	assert_int_equal(
		flash_erase(&bench.flash, (struct selection){&whole, 1}, VERIFY_TOUCHED, false), 0);
	memset(bench.image, 0xff, bench.size_bytes);
	part_bench_assert_holds_image(&bench);
	assert_int_equal(dummy_violations(bench.part), 0);
	part_bench_stop(&bench);
}

static void protection_is_lifted_and_put_back(void **state)
{
	struct part_bench bench;

	(void)state;
	part_bench_start(&bench, PART, "max");
	PART_BENCH_SEND(&bench, 0x06);
	PART_BENCH_SEND(&bench, 0x01, 0x0c);
	bench.now_ns += 10 * NS_PER_MS;
	part_bench_find(&bench, NAME);
	bench.image[0] ^= 0xff;
	part_bench_write(&bench);
	assert_int_equal(part_bench_ask(&bench, 0x05), 0x0c);
	assert_int_equal(dummy_violations(bench.part), 0);
	part_bench_stop(&bench);
}

static void write_that_a_session_left_going_is_waited_for(void **state)
{
	struct part_bench bench;

	(void)state;
	part_bench_start(&bench, PART, "max");
	PART_BENCH_SEND(&bench, 0x06);
	PART_BENCH_SEND(&bench, 0x02, 0x00, 0x00, 0x00, 0x77);
	part_bench_find(&bench, NULL);
	bench.image[0] = 0x77;
	part_bench_assert_holds_image(&bench);
	assert_int_equal(dummy_violations(bench.part), 0);
	part_bench_stop(&bench);
}

static void error_of_programmer_ends_the_write(void **state)
{
	struct part_bench bench;

	(void)state;
	for (unsigned int nth = 1; nth <= 3; nth++) {
		part_bench_start(&bench, PART, "typ");
		part_bench_find(&bench, NAME);
		bench.fail_countdown = nth; /* write enable, write, status */
		assert_int_equal(
			bench.flash.chip->driver->program(&bench.flash, 0, bench.image, 256), -EIO);
		assert_int_equal(dummy_violations(bench.part), 0);
		part_bench_stop(&bench);
	}
}

static uint32_t ask_id(struct wire *wire)
{
	uint32_t id = 0;

	assert_int_equal(eeprom_id.ask(&wire->flash, wire->flash.chip, &id), 0);
	return id;
}

static int answer_rdid(
	struct wire *wire, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	(void)wire;
	(void)tx_bytes;
	if (tx[0] == 0x9f)
		memcpy(rx, (const uint8_t[]){0x1f, 0x26, 0x00}, rx_bytes);
	return 0;
}

static void part_that_has_an_rdid_is_not_sent_83h(void **state)
{
	struct wire wire;

	(void)state;
	wire_start(&wire, NAME, answer_rdid);
	assert_int_equal(ask_id(&wire), 0x1f2600);
	assert_int_equal(wire_count(&wire, 0x83), 0);
}

/* Answers as an AT45DB321B, which has no RDID; a resistor pulls the data line up or down. */
static int answer_with_pull(
	struct wire *wire, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	(void)tx;
	(void)tx_bytes;
	if (rx_bytes > 0)
		memset(rx, wire->status, rx_bytes);
	return 0;
}

static void dataflash_without_rdid_is_not_sent_83h(void **state)
{
	static const uint8_t pulls[] = {0x00, 0xff};
	struct wire wire;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		wire_start(&wire, NAME, answer_with_pull);
		wire.status = pulls[i];
		assert_int_equal(ask_id(&wire), pulls[i] * 0x010101u);
		assert_int_equal(wire_count(&wire, 0x83), 0);
	}
}

static void write_enable_that_tells_kinds_apart_waits_for_power_up(void **state)
{
	struct wire wire;

	(void)state;
	wire_start(&wire, NAME, answer_with_pull);
	wire.status = 0xff;
	wire.now_ns = NS_PER_MS;
	wire.base.powered_ns = NS_PER_MS;
	ask_id(&wire);
	assert_int_equal(wire_count(&wire, 0x06), 1);
	assert_in_range(wire.now_ns, NS_PER_MS + POWER_UP_WRITE_US_MAX * NS_PER_US, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_overwritten_without_erase_at_every_corner),
		cmocka_unit_test(erase_leaves_ff),
		cmocka_unit_test(protection_is_lifted_and_put_back),
		cmocka_unit_test(write_that_a_session_left_going_is_waited_for),
		cmocka_unit_test(error_of_programmer_ends_the_write),
		cmocka_unit_test(part_that_has_an_rdid_is_not_sent_83h),
		cmocka_unit_test(dataflash_without_rdid_is_not_sent_83h),
		cmocka_unit_test(write_enable_that_tells_kinds_apart_waits_for_power_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
