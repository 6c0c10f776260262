/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "bench.h"

static void id_of_awake_part_needs_no_wait(void **state)
{
	struct bench bench;
	uint32_t id;

	(void)state;
	bench_start(&bench, &small_chip);
	assert_int_equal(spi25_rdid.ask(&bench.flash, &small_chip, &id), 0);
	assert_int_equal(id, small_chip.id);
	assert_int_equal(bench.fake.delays, 0);
	assert_int_equal(bench.fake.counts[0xab], 0);
	bench_stop(&bench);
}

static void powered_down_part_is_woken_and_given_its_time(void **state)
{
	struct bench bench;
	uint32_t id;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.asleep = true;
	assert_int_equal(spi25_rdid.ask(&bench.flash, &small_chip, &id), 0);
	assert_int_equal(id, small_chip.id);
	assert_true(fake_chip_is_content(&bench.fake));
	bench_stop(&bench);
}

static void part_left_erasing_is_waited_for_before_its_id(void **state)
{
	struct bench bench;
	uint32_t id;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.busy_until_ns = UINT64_C(60000000000);
	assert_int_equal(spi25_rdid.ask(&bench.flash, &small_chip, &id), 0);
	assert_int_equal(id, small_chip.id);
	assert_true(fake_chip_is_content(&bench.fake));
	bench_stop(&bench);
}

static void silent_bus_is_woken_once_and_shown_as_it_is(void **state)
{
	static const uint32_t silences[] = {0x000000, 0xffffff};
	struct bench bench;
	uint32_t id = 7;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		bench_start(&bench, &small_chip);
		bench.fake.jedec_id = silences[i];
		assert_int_equal(spi25_rdid.ask(&bench.flash, &small_chip, &id), 0);
		assert_int_equal(id, silences[i]);
		assert_int_equal(bench.fake.counts[0xab], 1);
		bench_stop(&bench);
	}
}

static void read_longer_than_programmer_takes_is_split(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.base.read_bytes_max = 1000;
	fill_pattern(bench.fake.memory, small_chip.size_bytes, 1);
	assert_int_equal(small_chip.driver->read(&bench.flash, 0x1234, bench.image, 2500), 0);
	assert_memory_equal(bench.image, bench.fake.memory + 0x1234, 2500);
	assert_int_equal(bench.fake.counts[0x03], 3);
	bench_stop(&bench);
}

static void program_fits_into_small_programmer(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.base.write_bytes_max = 5;
	fill_pattern(bench.image, 10, 3);
	assert_int_equal(small_chip.driver->program(&bench.flash, 246, bench.image, 10), 0);
	assert_memory_equal(bench.fake.memory + 246, bench.image, 10);
	assert_int_equal(bench.fake.counts[0x02], 10);
	bench_stop(&bench);
}

/* Whatever time within its datasheet the part takes, the next command comes after it. */
static void nothing_but_status_reads_is_sent_while_busy(void **state)
{
	static const uint64_t busy_ns[] = {1, 999, 1000, 1001, 699999, 700000, 3000000};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < sizeof(busy_ns) / sizeof(busy_ns[0]); i++) {
		bench_start(&bench, &small_chip);
		bench.fake.busy_ns_override = busy_ns[i];
		fill_pattern(bench.image, 256, 4);
		assert_int_equal(small_chip.driver->program(&bench.flash, 0, bench.image, 256), 0);
		assert_int_equal(
			small_chip.driver->erase(&bench.flash, &small_chip.erase[0], 0), 0);
		assert_true(fake_chip_is_content(&bench.fake));
		bench_stop(&bench);
	}
}

static void slow_part_at_its_maximum_is_waited_for(void **state)
{
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < chip_erase_count(&small_chip); i++) {
		bench_start(&bench, &small_chip);
		bench.fake.busy_ns_override = small_chip.erase[i].busy.max_us * NS_PER_US;
		assert_int_equal(
			small_chip.driver->erase(&bench.flash, &small_chip.erase[i], 0), 0);
		assert_int_equal(small_chip.driver->read(&bench.flash, 0, bench.image, 1), 0);
		assert_true(fake_chip_is_content(&bench.fake));
		bench_stop(&bench);
	}
}

static void part_that_never_gets_ready_is_reported(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.busy_ns_override = UINT64_MAX / 4;
	assert_int_equal(
		small_chip.driver->erase(&bench.flash, &small_chip.erase[0], 0), -ETIMEDOUT);
	assert_true(logged(&bench.captured, "still busy"));
	assert_true(bench.fake.now_ns < 3 * busy_timeout_ns(&small_chip.erase[0].busy));
	bench_stop(&bench);
}

/* After minutes without the CPU, the host finds the deadline past, but the part ready. */
static void stall_beyond_timeout_of_ready_part_is_no_error(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	bench.fake.stall_ns = 2 * busy_timeout_ns(&small_chip.program);
	assert_int_equal(small_chip.driver->program(&bench.flash, 0, bench.image, 1), 0);
	bench.fake.answer_stall_ns = 2 * busy_timeout_ns(&small_chip.program);
	assert_int_equal(small_chip.driver->program(&bench.flash, 0, bench.image, 1), 0);
	bench_stop(&bench);
}

static void status_write_keeps_second_register(void **state)
{
	struct bench bench;

	(void)state;
	bench_start(&bench, &small_chip);
	assert_int_equal(spi25_status_write(&bench.flash, 0x1c), 0);
	assert_int_equal(bench.fake.status, 0x1c);
	assert_int_equal(bench.fake.status_2, 0x02);
	assert_true(fake_chip_is_content(&bench.fake));
	bench_stop(&bench);
}

static void programmer_error_ends_operation(void **state)
{
	struct bench bench;

	(void)state;
	for (unsigned int nth = 1; nth <= 3; nth++) {
		bench_start(&bench, &small_chip);
		bench.fake.fail_countdown = nth; /* write enable, erase, status */
		assert_int_equal(
			small_chip.driver->erase(&bench.flash, &small_chip.erase[0], 0), -EIO);
		bench_stop(&bench);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(id_of_awake_part_needs_no_wait),
		cmocka_unit_test(powered_down_part_is_woken_and_given_its_time),
		cmocka_unit_test(part_left_erasing_is_waited_for_before_its_id),
		cmocka_unit_test(silent_bus_is_woken_once_and_shown_as_it_is),
		cmocka_unit_test(read_longer_than_programmer_takes_is_split),
		cmocka_unit_test(program_fits_into_small_programmer),
		cmocka_unit_test(nothing_but_status_reads_is_sent_while_busy),
		cmocka_unit_test(slow_part_at_its_maximum_is_waited_for),
		cmocka_unit_test(part_that_never_gets_ready_is_reported),
		cmocka_unit_test(stall_beyond_timeout_of_ready_part_is_no_error),
		cmocka_unit_test(status_write_keeps_second_register),
		cmocka_unit_test(programmer_error_ends_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
