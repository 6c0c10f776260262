/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "fake_chip.h"

FIXTURE(bench, bench_start_small, bench_stop);

static void id_of_awake_part_needs_no_wait(struct bench *bench)
{
	uint32_t id;

	assert_int_equal(spi25_rdid.ask(&bench->flash, &small_chip, &id), 0);
	assert_int_equal(id, small_chip.id);
	assert_int_equal(bench->fake.delays, 0);
	assert_int_equal(bench->fake.counts[0xab], 0);
}

static void part_left_erasing_is_waited_for_before_its_id(struct bench *bench)
{
	uint32_t id;

	bench->fake.busy_until_ns = UINT64_C(60000000000);
	assert_int_equal(spi25_rdid.ask(&bench->flash, &small_chip, &id), 0);
	assert_int_equal(id, small_chip.id);
	assert_true(fake_chip_is_content(&bench->fake));
}

static void silent_bus_gets_one_wake_command_and_its_answer_is_returned(void)
{
	static const uint32_t silences[] = {0x000000, 0xffffff};
	struct bench bench;
	uint32_t id = 7;

	for (size_t i = 0; i < 2; i++) {
		bench_start(&bench, &small_chip);
		bench.fake.jedec_id = silences[i];
		assert_int_equal(spi25_rdid.ask(&bench.flash, &small_chip, &id), 0);
		assert_int_equal(id, silences[i]);
		assert_int_equal(bench.fake.counts[0xab], 1);
		bench_stop(&bench);
	}
}

static void read_longer_than_a_transfer_is_split(struct bench *bench)
{
	bench->fake.base.read_bytes_max = 1000;
	fill_pattern(bench->fake.memory, small_chip.size_bytes, 1);
	assert_int_equal(small_chip.driver->read(&bench->flash, 0x1234, bench->image, 2500), 0);
	assert_memory_equal(bench->image, bench->fake.memory + 0x1234, 2500);
	assert_int_equal(bench->fake.counts[0x03], 3);
}

static void program_longer_than_a_transfer_is_split(struct bench *bench)
{
	bench->fake.base.write_bytes_max = 5;
	fill_pattern(bench->image, 10, 3);
	assert_int_equal(small_chip.driver->program(&bench->flash, 246, bench->image, 10), 0);
	assert_memory_equal(bench->fake.memory + 246, bench->image, 10);
	assert_int_equal(bench->fake.counts[0x02], 10);
}

/* The next command waits for the end, however long the operation takes. */
static void nothing_but_status_reads_is_sent_while_busy(void)
{
	static const uint64_t busy_ns[] = {1, 999, 1000, 1001, 699999, 700000, 3000000};
	struct bench bench;

	for (size_t i = 0; i < COUNT(busy_ns); i++) {
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

static void slow_part_at_its_maximum_is_waited_for(void)
{
	struct bench bench;

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

static void part_that_never_gets_ready_is_reported(struct bench *bench)
{
	bench->fake.busy_ns_override = UINT64_MAX / 4;
	assert_int_equal(
		small_chip.driver->erase(&bench->flash, &small_chip.erase[0], 0), -ETIMEDOUT);
	assert_true(logged(&bench->captured, "still busy"));
	assert_true(bench->fake.now_ns < 3 * busy_timeout_ns(&small_chip.erase[0].busy));
}

/* After a stall, the driver finds that the deadline is past, but the part is ready. */
static void stall_beyond_timeout_of_ready_part_is_no_error(struct bench *bench)
{
	bench->fake.stall_ns = 2 * busy_timeout_ns(&small_chip.program);
	assert_int_equal(small_chip.driver->program(&bench->flash, 0, bench->image, 1), 0);
	bench->fake.answer_stall_ns = 2 * busy_timeout_ns(&small_chip.program);
	assert_int_equal(small_chip.driver->program(&bench->flash, 0, bench->image, 1), 0);
}

static void programmer_error_ends_operation(void)
{
	struct bench bench;

	for (unsigned int nth = 1; nth <= 3; nth++) {
		bench_start(&bench, &small_chip);
		bench.fake.fail_countdown = nth; /* write enable, erase, status */
		assert_int_equal(
			small_chip.driver->erase(&bench.flash, &small_chip.erase[0], 0), -EIO);
		bench_stop(&bench);
	}
}

/* The cases below check that the fake chip detects the mistakes that the cases above look for. */
static void send(struct bench *bench, const uint8_t *tx, size_t tx_bytes)
{
	assert_int_equal(
		bench->fake.base.ops->spi_command(&bench->fake.base, tx, tx_bytes, NULL, 0), 0);
}

#define SEND(bench, ...) send(bench, (uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

static void command_while_busy_is_counted_and_ignored(struct bench *bench)
{
	SEND(bench, 0x06);
	SEND(bench, 0x20, 0, 0, 0);
	SEND(bench, 0x06);
	assert_int_equal(bench->fake.sent_while_busy, 1);
	assert_false(bench->fake.write_enabled);
	assert_false(fake_chip_is_content(&bench->fake));
}

static void program_without_write_enable_is_counted(struct bench *bench)
{
	SEND(bench, 0x02, 0, 0, 0, 0x55);
	assert_int_equal(bench->fake.without_write_enable, 1);
	assert_int_equal(bench->fake.memory[0], 0xff);
}

static void program_past_page_end_is_counted_and_wraps(struct bench *bench)
{
	SEND(bench, 0x06);
	SEND(bench, 0x02, 0, 0, 0xff, 0x11, 0x22);
	assert_int_equal(bench->fake.crossed_pages, 1);
	assert_int_equal(bench->fake.memory[0xff], 0x11);
	assert_int_equal(bench->fake.memory[0x00], 0x22);
}

static void command_too_soon_after_wake_is_counted(struct bench *bench)
{
	bench->fake.awake_from_ns = NS_PER_MS;
	SEND(bench, 0x9f);
	assert_int_equal(bench->fake.sent_while_waking, 1);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(bench, id_of_awake_part_needs_no_wait),
	CASE_ON(bench, part_left_erasing_is_waited_for_before_its_id),
	CASE(silent_bus_gets_one_wake_command_and_its_answer_is_returned),
	CASE_ON(bench, read_longer_than_a_transfer_is_split),
	CASE_ON(bench, program_longer_than_a_transfer_is_split),
	CASE(nothing_but_status_reads_is_sent_while_busy),
	CASE(slow_part_at_its_maximum_is_waited_for),
	CASE_ON(bench, part_that_never_gets_ready_is_reported),
	CASE_ON(bench, stall_beyond_timeout_of_ready_part_is_no_error),
	CASE(programmer_error_ends_operation),
	CASE_ON(bench, command_while_busy_is_counted_and_ignored),
	CASE_ON(bench, program_without_write_enable_is_counted),
	CASE_ON(bench, program_past_page_end_is_counted_and_wraps),
	CASE_ON(bench, command_too_soon_after_wake_is_counted),
};

RUN_CASES(tests)
