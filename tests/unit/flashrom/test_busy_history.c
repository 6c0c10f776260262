/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time of the first status read, computed from the lengths of earlier operations. Status reads
 * take no time here.
 */

#include "../cases.h"
#include "flash.h"

static const struct busy_time program = {.typ_us = 700, .max_us = 3000};

/* A driver polls the part `lead_us` after the wait, then every `poll_us`. */
struct scene {
	struct busy_history history;
	uint32_t lead_us;
	uint32_t poll_us;
};

struct outcome {
	uint32_t late_us;
	unsigned int polls;
};

static struct scene scene(uint32_t lead_us, uint32_t poll_us)
{
	return (struct scene){.history = {.of = &program}, .lead_us = lead_us, .poll_us = poll_us};
}

static struct outcome operate(struct scene *scene, uint32_t busy_us)
{
	const uint32_t wait_us = busy_history_wait_us(&scene->history);
	const uint32_t first_us = wait_us + scene->lead_us;
	struct busy_length length = {0};
	unsigned int polls = 1;
	uint32_t at = first_us;

	for (; at < busy_us; at += scene->poll_us, polls++)
		length.above_us = at;
	length.below_us = at;
	busy_history_add(&scene->history, length, wait_us, first_us);
	return (struct outcome){.late_us = at - busy_us, .polls = polls};
}

static void first_operation_waits_half_the_typical_time(void)
{
	const struct busy_history history = {.of = &program};

	assert_int_equal(busy_history_wait_us(&history), 350);
}

static void part_of_constant_speed_is_polled_just_after_it_is_ready(void)
{
	static const uint32_t lengths_us[] = {20, 350, 700, 1850, 3000, 150000};

	for (size_t i = 0; i < COUNT(lengths_us); i++) {
		const struct busy_time busy = {.typ_us = 700, .max_us = 300000};
		struct scene s = scene(40, 54);
		uint64_t late_us = 0, polls = 0;

		s.history.of = &busy;
		for (unsigned int n = 0; n < 50; n++)
			operate(&s, lengths_us[i]);
		for (unsigned int n = 0; n < 100; n++) {
			const struct outcome outcome = operate(&s, lengths_us[i]);

			late_us += outcome.late_us;
			polls += outcome.polls;
		}
		assert_true(late_us / 100 <= 25 + lengths_us[i] / 64);
		assert_true(polls / 100 <= 4);
	}
}

static void part_that_gets_faster_is_polled_earlier_after_a_few_operations(void)
{
	struct scene s = scene(40, 54);

	for (unsigned int n = 0; n < 50; n++)
		operate(&s, 3000);
	for (unsigned int n = 0; n < 16; n++)
		operate(&s, 350);
	assert_true(operate(&s, 350).late_us <= 54);
}

/* The shortest recent length decides. The average would be too long half of the time. */
static void part_of_varying_speed_is_polled_before_its_shortest_operation_ends(void)
{
	static const uint32_t lengths_us[] = {900, 2500, 1200, 3000, 2000, 1100, 1700, 2900};
	struct scene s = scene(0, 54);

	for (unsigned int n = 0; n < 80; n++) {
		const uint32_t wait_us = busy_history_wait_us(&s.history);
		const struct outcome outcome = operate(&s, lengths_us[n % 8]);

		assert_true(outcome.late_us <= 54);
		if (n > 8)
			assert_true(wait_us < 900 && wait_us > 700);
	}
}

static void end_of_a_short_operation_among_long_ones_is_seen_soon(void)
{
	static const uint32_t lengths_us[] = {3000, 2900, 2950, 700, 2800, 3000, 710};
	struct scene s = scene(0, 54);

	for (size_t i = 0; i < COUNT(lengths_us); i++)
		assert_true(operate(&s, lengths_us[i]).late_us <= 54);
}

static void wait_never_exceeds_the_maximum(void)
{
	struct busy_history history = {.of = &program};
	const struct busy_length stalled = {.above_us = UINT32_MAX - 1, .below_us = UINT32_MAX};

	for (unsigned int n = 0; n < 2 * BUSY_LENGTHS_MAX; n++) {
		busy_history_add(&history, stalled, 0, UINT32_MAX);
		assert_true(busy_history_wait_us(&history) <= program.max_us);
	}
}

static void part_without_busy_time_is_polled_at_once(void)
{
	struct scene s = scene(0, 1);

	for (unsigned int n = 0; n < 50; n++)
		operate(&s, 0);
	assert_true(busy_history_wait_us(&s.history) <= 4);
}

static const struct CMUnitTest tests[] = {
	CASE(first_operation_waits_half_the_typical_time),
	CASE(part_of_constant_speed_is_polled_just_after_it_is_ready),
	CASE(part_that_gets_faster_is_polled_earlier_after_a_few_operations),
	CASE(part_of_varying_speed_is_polled_before_its_shortest_operation_ends),
	CASE(end_of_a_short_operation_among_long_ones_is_seen_soon),
	CASE(wait_never_exceeds_the_maximum),
	CASE(part_without_busy_time_is_polled_at_once),
};

RUN_CASES(tests)
