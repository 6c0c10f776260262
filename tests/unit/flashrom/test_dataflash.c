/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dataflash.h"

#include <errno.h>

#include "part_bench.h"
#include "spi25.h"
#include "wire.h"

#define PART "AT45DB321D"
#define PAGE_BYTES 528

static const char *const corners[] = {"min", "typ", "max"};

static void pages_are_erased_and_programmed_at_every_corner(void **state)
{
	struct part_bench bench;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		part_bench_start(&bench, PART, corners[i]);
		part_bench_find(&bench, NULL);
		assert_int_equal(bench.flash.chip->page_bytes, PAGE_BYTES);
		bench.image[5 * PAGE_BYTES - 1] ^= 0xff;
		bench.image[5 * PAGE_BYTES] ^= 0xff;
		part_bench_noise(bench.image + 100 * PAGE_BYTES + 7, 30 * PAGE_BYTES, 2);
		memset(bench.image + 200 * PAGE_BYTES, 0xff, 3 * PAGE_BYTES);
		bench.image[bench.size_bytes - 1] ^= 0xff;
		part_bench_write(&bench);
		assert_int_equal(dummy_violations(bench.part), 0);
		part_bench_stop(&bench);
	}
}

/* A page with data is erased first, even if it would be enough to clear bits. */
static void page_that_only_loses_bits_is_erased_all_the_same(void **state)
{
	struct part_bench bench;

	(void)state;
	part_bench_start(&bench, PART, "typ");
	part_bench_find(&bench, PART);
	bench.log.level_max = LOG_DEBUG;
	bench.image[3 * PAGE_BYTES] &= 0x0f;
	part_bench_write(&bench);
	assert_true(logged(&bench.captured, "with opcode 81"));
	part_bench_stop(&bench);
}

static void page_longer_than_programmer_takes_goes_in_parts(void **state)
{
	struct part_bench bench;

	(void)state;
	part_bench_start(&bench, PART, "typ");
	bench.wire.write_bytes_max = 11;
	bench.wire.read_bytes_max = 1000;
	part_bench_find(&bench, PART);
	part_bench_noise(bench.image + 8000 * PAGE_BYTES, 2 * PAGE_BYTES, 3);
	part_bench_write(&bench);
	assert_int_equal(dummy_violations(bench.part), 0);
	part_bench_stop(&bench);
}

static void sleeping_part_is_woken_and_given_its_time(void **state)
{
	static const char *const names[] = {PART, NULL};
	struct part_bench bench;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		part_bench_start(&bench, PART, "typ");
		PART_BENCH_SEND(&bench, 0xb9);
		bench.now_ns += 10 * NS_PER_US;
		part_bench_find(&bench, names[i]);
		bench.image[0] ^= 0xff;
		part_bench_write(&bench);
		part_bench_assert_in_time(&bench);
		part_bench_stop(&bench);
	}
}

static void find_while_it_erases(struct part_bench *bench, const char *name)
{
	part_bench_start(bench, PART, "max");
	PART_BENCH_SEND(bench, 0x50, 0, 0, 0);
	part_bench_find(bench, name);
	memset(bench->image, 0xff, 8 * PAGE_BYTES);
	part_bench_assert_holds_image(bench);
}

static void erase_that_a_session_left_going_is_waited_for(void **state)
{
	struct part_bench bench;

	(void)state;
	find_while_it_erases(&bench, PART);
	assert_int_equal(dummy_violations(bench.part), 0);
	part_bench_stop(&bench);
}

/* Methods for other parts ask first, and the busy part ignores them. D7h comes only after 05h. */
static void part_that_still_erases_is_found_among_all(void **state)
{
	struct part_bench bench;

	(void)state;
	find_while_it_erases(&bench, NULL);
	bench.image[0] = 0x00;
	part_bench_write(&bench);
	part_bench_stop(&bench);
}

static void error_of_programmer_ends_the_write(void **state)
{
	struct part_bench bench;

	(void)state;
	for (unsigned int nth = 1; nth <= 3; nth++) {
		part_bench_start(&bench, PART, "typ");
		part_bench_find(&bench, PART);
		bench.fail_countdown = nth; /* buffer, page, status */
		assert_int_equal(
			dataflash_driver.program(&bench.flash, 0, bench.image, PAGE_BYTES), -EIO);
		assert_int_equal(dummy_violations(bench.part), 0);
		part_bench_stop(&bench);
	}
}

/* Answers as parts of the 25 series on which D7h erases. They have a status of their own. */
static int answer_as_25_series(
	struct wire *wire, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	(void)wire;
	(void)tx_bytes;
	if (tx[0] == 0x05)
		memset(rx, 0x00, rx_bytes);
	else if (tx[0] == 0x9f)
		memcpy(rx, (const uint8_t[]){0x9d, 0x60, 0x18}, rx_bytes);
	return 0;
}

static void part_of_another_kind_is_not_sent_d7h(void **state)
{
	struct wire wire;
	uint32_t id;

	(void)state;
	wire_start(&wire, PART, answer_as_25_series);
	assert_int_equal(dataflash_id.ask(&wire.flash, wire.flash.chip, &id), 0);
	assert_int_equal(id, 0x9d6018);
	assert_int_equal(wire_count(&wire, 0xd7), 0);
}

/* Answers as a part with pages of 512 bytes, set for good, and sectors that may be protected. */
static int answer_power_of_two(
	struct wire *wire, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	static const uint8_t id[] = {0x1f, 0x27, 0x01, 0x00, 0x00};

	if (tx[0] == 0x9f)
		memcpy(rx, id, rx_bytes < sizeof(id) ? rx_bytes : sizeof(id));
	else if (tx[0] == 0xd7)
		memset(rx, wire->status, rx_bytes);
	else if (tx[0] == 0x3d && tx_bytes == 4 && tx[3] == 0x9a)
		wire->status &= (uint8_t)~0x02;
	else if (tx[0] == 0x3d && tx_bytes == 4 && tx[3] == 0xa9)
		wire->status |= 0x02;
	return 0;
}

static void find_power_of_two(struct wire *wire, uint8_t status)
{
	wire_start(wire, PART, answer_power_of_two);
	wire->status = status;
	wire->flash.chip = NULL;
	assert_int_equal(flash_probe(&wire->flash, chip_lists, NULL, false), 0);
	wire->sent_count = 0;
}

static void power_of_two_pages_are_found_and_addressed(void **state)
{
	static const uint8_t page[512];
	const struct flash_chip *chip;
	struct wire wire;

	(void)state;
	find_power_of_two(&wire, 0xb5);
	chip = wire.flash.chip;
	assert_string_equal(chip->name, PART);
	assert_int_equal(chip->size_bytes, 4194304);
	assert_int_equal(chip->page_bytes, 512);
	assert_int_equal(dataflash_driver.program(&wire.flash, 0x3ffe00, page, sizeof(page)), 0);
	ASSERT_WIRE_SENT(&wire, 0, 0x88, 0x3f, 0xfe, 0x00);
	assert_int_equal(dataflash_driver.erase(&wire.flash, &chip->erase[1], 0x001000), 0);
	ASSERT_WIRE_SENT(&wire, 0, 0x50, 0x00, 0x10, 0x00);
	assert_int_equal(chip->erase[1].block_bytes, 4096);
}

static void addresses_of_longer_pages_leave_a_gap_behind_each(void **state)
{
	uint8_t byte;
	struct wire wire;

	(void)state;
	find_power_of_two(&wire, 0xb4);
	assert_int_equal(wire.flash.chip->page_bytes, PAGE_BYTES);
	assert_int_equal(dataflash_driver.read(&wire.flash, 527, &byte, 1), 0);
	assert_int_equal(dataflash_driver.read(&wire.flash, 528, &byte, 1), 0);
	assert_int_equal(dataflash_driver.read(&wire.flash, 4325375, &byte, 1), 0);
	ASSERT_WIRE_SENT(&wire, 0, 0x03, 0x00, 0x02, 0x0f);
	ASSERT_WIRE_SENT(&wire, 1, 0x03, 0x00, 0x04, 0x00);
	ASSERT_WIRE_SENT(&wire, 2, 0x03, 0x7f, 0xfe, 0x0f);
}

static void protection_is_disabled_and_enabled_again(void **state)
{
	struct wire wire;

	(void)state;
	find_power_of_two(&wire, 0xb6);
	assert_int_equal(dataflash_driver.unprotect(&wire.flash, false), 0);
	assert_int_equal(wire.status, 0xb4);
	assert_int_equal(dataflash_driver.reprotect(&wire.flash), 0);
	assert_int_equal(wire.status, 0xb6);
	assert_int_equal(dataflash_driver.reprotect(&wire.flash), 0);
	assert_int_equal(wire_count(&wire, 0x3d), 2);
}

static void part_without_protection_is_not_told_to_drop_it(void **state)
{
	struct wire wire;

	(void)state;
	find_power_of_two(&wire, 0xb4);
	assert_int_equal(dataflash_driver.unprotect(&wire.flash, false), 0);
	assert_int_equal(dataflash_driver.reprotect(&wire.flash), 0);
	assert_int_equal(wire_count(&wire, 0x3d), 0);
}

/* While WP# is low, the sectors stay protected against all commands. */
static int answer_protected(
	struct wire *wire, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	(void)wire;
	(void)tx_bytes;
	if (tx[0] == 0xd7)
		memset(rx, 0xb6, rx_bytes);
	return 0;
}

static void protection_that_stays_is_an_error_unless_forced(void **state)
{
	struct wire wire;

	(void)state;
	wire_start(&wire, PART, answer_protected);
	assert_int_equal(dataflash_driver.unprotect(&wire.flash, false), -EPERM);
	assert_int_equal(dataflash_driver.unprotect(&wire.flash, true), 0);
	assert_true(logged(&wire.captured, "stays write-protected"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_erased_and_programmed_at_every_corner),
		cmocka_unit_test(page_that_only_loses_bits_is_erased_all_the_same),
		cmocka_unit_test(page_longer_than_programmer_takes_goes_in_parts),
		cmocka_unit_test(sleeping_part_is_woken_and_given_its_time),
		cmocka_unit_test(erase_that_a_session_left_going_is_waited_for),
		cmocka_unit_test(part_that_still_erases_is_found_among_all),
		cmocka_unit_test(part_of_another_kind_is_not_sent_d7h),
		cmocka_unit_test(error_of_programmer_ends_the_write),
		cmocka_unit_test(power_of_two_pages_are_found_and_addressed),
		cmocka_unit_test(addresses_of_longer_pages_leave_a_gap_behind_each),
		cmocka_unit_test(protection_is_disabled_and_enabled_again),
		cmocka_unit_test(part_without_protection_is_not_told_to_drop_it),
		cmocka_unit_test(protection_that_stays_is_an_error_unless_forced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
