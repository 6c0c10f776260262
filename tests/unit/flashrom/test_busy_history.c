/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time of the first question, from the lengths of earlier operations. Questions take no time
 * here.
 */

#include "../cases.h"
#include "flash.h"

static const struct busy_time program = {.typ_us = 700, .max_us = 3000};

/* A part, and a driver whose questions come `lead_us` after the wait, then every `poll_us`. */
struct scene {
	struct busy_history history;
	uint32_t lead_us;
	uint32_t poll_us;
};

struct outcome {
	uint32_t late_us;
	unsigned int questions;
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
	unsigned int questions = 1;
	uint32_t at = first_us;

	for (; at < busy_us; at += scene->poll_us, questions++)
		length.above_us = at;
	length.below_us = at;
	busy_history_add(&scene->history, length, wait_us, first_us);
	return (struct outcome){.late_us = at - busy_us, .questions = questions};
}

static void nothing_known_waits_half_the_typical_time(void)
{
	const struct busy_history history = {.of = &program};

	assert_int_equal(busy_history_wait_us(&history), 350);
}

/* While its lengths stay the same, a part is asked right after it is ready, and seldom before. */
static void steady_part_is_asked_just_after_it_is_ready(void)
{
	static const uint32_t lengths_us[] = {20, 350, 700, 1850, 3000, 150000};

	for (size_t i = 0; i < COUNT(lengths_us); i++) {
		const struct busy_time busy = {.typ_us = 700, .max_us = 300000};
		struct scene s = scene(40, 54);
		uint64_t late_us = 0, questions = 0;

		s.history.of = &busy;
		for (unsigned int n = 0; n < 50; n++)
			operate(&s, lengths_us[i]);
		for (unsigned int n = 0; n < 100; n++) {
			const struct outcome outcome = operate(&s, lengths_us[i]);

			late_us += outcome.late_us;
			questions += outcome.questions;
		}
		assert_true(late_us / 100 <= 25 + lengths_us[i] / 64);
		assert_true(questions / 100 <= 4);
	}
}

static void unknown_shorter_length_is_reached_in_a_few_operations(void)
{
	struct scene s = scene(40, 54);

	for (unsigned int n = 0; n < 50; n++)
		operate(&s, 3000);
	for (unsigned int n = 0; n < 16; n++)
		operate(&s, 350);
	assert_true(operate(&s, 350).late_us <= 54);
}

/* The shortest recent length decides: the average would be too long half of the time. */
static void lengths_that_vary_are_asked_for_before_the_shortest_ends(void)
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

/* The end of a short operation among long ones must be noticed soon. */
static void few_long_lengths_do_not_make_a_short_one_wait(void)
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

static void part_without_busy_time_is_asked_at_once(void)
{
	struct scene s = scene(0, 1);

	for (unsigned int n = 0; n < 50; n++)
		operate(&s, 0);
	assert_true(busy_history_wait_us(&s.history) <= 4);
}

static const struct CMUnitTest tests[] = {
	CASE(nothing_known_waits_half_the_typical_time),
	CASE(steady_part_is_asked_just_after_it_is_ready),
	CASE(unknown_shorter_length_is_reached_in_a_few_operations),
	CASE(lengths_that_vary_are_asked_for_before_the_shortest_ends),
	CASE(few_long_lengths_do_not_make_a_short_one_wait),
	CASE(wait_never_exceeds_the_maximum),
	CASE(part_without_busy_time_is_asked_at_once),
};

RUN_CASES(tests)
