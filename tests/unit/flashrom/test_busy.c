/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The times at which a busy part is polled: its end is seen soon, with few status reads. */
#include <errno.h>

#include "fake_chip.h"

FIXTURE(bench, bench_start_small, bench_stop);

static const struct busy_time program = {.typ_us = 700, .max_us = 3000};
static const struct busy_time erase = {.typ_us = 150000, .max_us = 2000000};

/* The result of one operation: the number of status reads, and how late its end was seen. */
struct outcome {
	unsigned int polls;
	uint64_t late_us;
};

static int ask_fake(struct flash *flash, uint32_t address, bool *ready)
{
	uint8_t status;
	const int error = spi25_status_read(flash, &status);

	(void)address;
	*ready = (status & 1) == 0;
	return error;
}

static struct outcome operate(struct bench *bench, const struct busy_time *busy, uint64_t busy_us)
{
	struct fake_chip *fake = &bench->fake;
	const unsigned int before = fake->counts[0x05];

	fake->busy_until_ns = fake->now_ns + busy_us * NS_PER_US;
	assert_int_equal(busy_wait(&bench->flash, busy, "a test", ask_fake, 0), 0);
	assert_true(fake->now_ns >= fake->busy_until_ns);
	return (struct outcome){
		.polls = fake->counts[0x05] - before,
		.late_us = (fake->now_ns - fake->busy_until_ns) / NS_PER_US,
	};
}

static void poll_interval_is_a_fraction_of_typical_time(void)
{
	assert_int_equal(busy_poll_us(0), 0);
	assert_int_equal(busy_poll_us(1599), 0);
	assert_int_equal(busy_poll_us(1600), 50);
	assert_int_equal(busy_poll_us(45000), 1406);
	assert_int_equal(busy_poll_us(150000), 4687);
	assert_int_equal(busy_poll_us(3200000), 100000);
	assert_int_equal(busy_poll_us(UINT32_MAX), 100000);
}

static void timeout_is_beyond_the_maximum_of_any_part(void)
{
	const struct busy_time longest = {.typ_us = UINT32_MAX, .max_us = UINT32_MAX};

	assert_true(busy_timeout_ns(&erase) > erase.max_us * NS_PER_US);
	assert_true(busy_timeout_ns(&longest) > longest.max_us * NS_PER_US);
}

/* Without history, the first status read comes after half the typical time. */
static void end_of_first_operation_is_seen_within_a_poll_interval(void)
{
	static const uint64_t busy_us[] = {75000, 100000, 150000, 400000, 2000000};
	struct bench bench;

	for (size_t i = 0; i < COUNT(busy_us); i++) {
		bench_start(&bench, &small_chip);
		assert_true(operate(&bench, &erase, busy_us[i]).late_us <=
			    busy_poll_us(erase.typ_us) + 1);
		bench_stop(&bench);
	}
}

/* Other processes can run between two status reads. */
static void long_operation_is_polled_once_an_interval(struct bench *bench)
{
	assert_true(
		operate(bench, &erase, 2000000).polls <= 2000000 / busy_poll_us(erase.typ_us) + 1);
}

static void part_of_constant_speed_is_polled_seldom(struct bench *bench)
{
	struct outcome last = {0};

	for (unsigned int i = 0; i < 20; i++)
		last = operate(bench, &erase, 400000);
	assert_true(last.polls <= 400000 / 8 / busy_poll_us(erase.typ_us) + 2);
}

/* After slow operations, the end of a fast one must still be seen soon. */
static void part_that_gets_faster_is_polled_earlier(struct bench *bench)
{
	struct outcome outcome = {0};

	for (unsigned int i = 0; i < BUSY_LENGTHS_MAX; i++)
		operate(bench, &program, 3000);
	assert_true(operate(bench, &program, 350).late_us < 3000);
	for (unsigned int i = 0; i < 20; i++)
		outcome = operate(bench, &program, 350);
	assert_true(outcome.late_us <= 350 / 8);
}

/* Flushes buffered writes. The operation begins when they arrive, however late that is. */
static int flush_after_a_stall(struct programmer *programmer)
{
	struct fake_chip *fake = (struct fake_chip *)programmer;

	if (fake->busy_until_ns == 0) {
		fake->now_ns += 2 * busy_timeout_ns(&program);
		fake->busy_until_ns = fake->now_ns + 700 * NS_PER_US;
	}
	return 0;
}

static void timeout_counts_from_the_arrival_of_the_command(struct bench *bench)
{
	static struct programmer_ops ops;

	ops = *bench->fake.base.ops;
	ops.flush = flush_after_a_stall;
	bench->fake.base.ops = &ops;
	assert_int_equal(busy_wait(&bench->flash, &program, "a test", ask_fake, 0), 0);
}

/* A stall makes one operation seem much too long. Later waits must not become that long. */
static void stall_does_not_lengthen_later_waits(struct bench *bench)
{
	bench->fake.answer_stall_ns = UINT64_C(600000000000);
	operate(bench, &program, 700);
	assert_true(operate(bench, &program, 700).late_us <= program.max_us);
}

static void ends_of_operations_of_varying_length_are_seen_soon(struct bench *bench)
{
	uint32_t seed = 1;
	uint64_t late_us = 0, busy_us = 0;

	for (unsigned int i = 0; i < 200; i++) {
		seed = seed * 1103515245 + 12345;
		const uint64_t length_us = 700 + (seed >> 8) % 2300;

		late_us += operate(bench, &program, length_us).late_us;
		busy_us += length_us;
	}
	assert_true(late_us * 50 < busy_us);
}

/* Operations beyond the table are waited for, too, but have no history. */
static void operations_beyond_the_history_table_are_waited_for(struct bench *bench)
{
	struct busy_time kinds[BUSY_OPERATIONS_MAX + 2];

	for (size_t i = 0; i < BUSY_OPERATIONS_MAX + 2; i++) {
		kinds[i] = program;
		operate(bench, &kinds[i], 700);
	}
}

static void failed_status_read_ends_the_wait(struct bench *bench)
{
	bench->fake.fail_countdown = 1;
	assert_int_equal(busy_wait(&bench->flash, &program, "a test", ask_fake, 0), -EIO);
}

static const struct CMUnitTest tests[] = {
	CASE(poll_interval_is_a_fraction_of_typical_time),
	CASE(timeout_is_beyond_the_maximum_of_any_part),
	CASE(end_of_first_operation_is_seen_within_a_poll_interval),
	CASE_ON(bench, long_operation_is_polled_once_an_interval),
	CASE_ON(bench, part_of_constant_speed_is_polled_seldom),
	CASE_ON(bench, part_that_gets_faster_is_polled_earlier),
	CASE_ON(bench, timeout_counts_from_the_arrival_of_the_command),
	CASE_ON(bench, stall_does_not_lengthen_later_waits),
	CASE_ON(bench, ends_of_operations_of_varying_length_are_seen_soon),
	CASE_ON(bench, operations_beyond_the_history_table_are_waited_for),
	CASE_ON(bench, failed_status_read_ends_the_wait),
};

RUN_CASES(tests)
