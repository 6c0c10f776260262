/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test build that waits for the maximum time and does not poll the part. */
#include "fake_chip.h"

static int fail_if_asked(struct flash *flash, uint32_t address, bool *ready)
{
	(void)flash;
	(void)address;
	(void)ready;
	fail();
	return 0;
}

static int ready_when_asked(struct flash *flash, uint32_t address, bool *ready)
{
	(void)flash;
	(void)address;
	*ready = true;
	return 0;
}

/* Returns the time of busy_wait() in ns; it must succeed. */
static uint64_t waited_ns(
	const struct busy_time *busy, int (*is_ready)(struct flash *, uint32_t, bool *))
{
	struct bench bench;
	uint64_t start_ns, end_ns;

	bench_start(&bench, &small_chip);
	start_ns = bench.fake.now_ns;
	assert_int_equal(busy_wait(&bench.flash, busy, "a test", is_ready, 0), 0);
	end_ns = bench.fake.now_ns;
	bench_stop(&bench);
	return end_ns - start_ns;
}

static void maximum_is_waited_for_without_a_status_read(void)
{
	const struct busy_time busy = {.typ_us = 700, .max_us = 3000};

	assert_true(waited_ns(&busy, fail_if_asked) >= busy.max_us * NS_PER_US);
}

static void operation_of_unknown_length_is_polled(void)
{
	const struct busy_time busy = {.typ_us = 800000, .max_us = 250000000};

	assert_true(waited_ns(&busy, ready_when_asked) < 2 * busy.typ_us * NS_PER_US);
}

static const struct CMUnitTest tests[] = {
	CASE(maximum_is_waited_for_without_a_status_read),
	CASE(operation_of_unknown_length_is_polled),
};

RUN_CASES(tests)
