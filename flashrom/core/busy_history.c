/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "busy_history.h"

#include <stdbool.h>

/* Lengths that differ by less than 1/128 of them, or by a few us of noise, count as equal. */
#define STEPS_PER_LENGTH 128
#define STEP_US_MIN 4
#define DOUBLINGS_WHILE_YOUNG 2

static uint32_t step_us(uint32_t length_us)
{
	const uint32_t us = length_us / STEPS_PER_LENGTH;

	return us < STEP_US_MIN ? STEP_US_MIN : us;
}

/* Returns the intersection of all lengths; if it is empty, above_us exceeds below_us. */
static struct busy_length common_length(const struct busy_history *history)
{
	const unsigned int kept =
		history->count < BUSY_LENGTHS_MAX ? history->count : BUSY_LENGTHS_MAX;
	struct busy_length common = {.above_us = 0, .below_us = UINT32_MAX};

	for (unsigned int i = 0; i < kept; i++) {
		const struct busy_length *length = &history->lengths[i];

		if (length->above_us > common.above_us)
			common.above_us = length->above_us;
		if (length->below_us < common.below_us)
			common.below_us = length->below_us;
	}
	return common;
}

static bool is_young(const struct busy_history *history)
{
	return history->count < BUSY_LENGTHS_MAX;
}

/*
 * Only upper bounds are known: the wait gets shorter, by a step that doubles each time the part was
 * ready at the first query. When that is true of all lengths kept, steps are small again, because a
 * part that is queried just in time looks the same.
 */
static uint32_t search_down_us(const struct busy_history *history, uint32_t below_us)
{
	const unsigned int doublings = history->never_busy % BUSY_LENGTHS_MAX +
				       (is_young(history) ? DOUBLINGS_WHILE_YOUNG : 0);
	const uint64_t down_us = (uint64_t)step_us(below_us) << doublings;

	return down_us < below_us / 2 ? below_us - (uint32_t)down_us : below_us / 2;
}

static uint32_t question_us(const struct busy_history *history)
{
	const struct busy_length common = common_length(history);
	const uint32_t step = step_us(common.below_us);

	if (common.above_us > common.below_us && common.above_us - common.below_us > step)
		return common.below_us - common.below_us / 8;
	if (common.above_us == 0)
		return search_down_us(history, common.below_us);
	if (common.below_us > common.above_us && common.below_us - common.above_us > 2 * step)
		return common.above_us + (common.below_us - common.above_us) / 2;
	return common.below_us < UINT32_MAX - step ? common.below_us + step : UINT32_MAX;
}

/*
 * After a few lengths the next one may still be much shorter, so until there are enough the wait
 * stays below the typical time.
 */
static uint32_t longest_wait_us(const struct busy_history *history)
{
	const struct busy_time *of = history->of;

	return is_young(history) ? of->typ_us - of->typ_us / 8 : of->max_us;
}

uint32_t busy_history_wait_us(const struct busy_history *history)
{
	const uint32_t longest_us = longest_wait_us(history);
	uint32_t wait_us;

	if (history->count == 0)
		return history->of->typ_us / 2;
	wait_us = question_us(history);
	wait_us = wait_us > history->lead_us ? wait_us - history->lead_us : 0;
	return wait_us < longest_us ? wait_us : longest_us;
}

void busy_history_add(struct busy_history *history, struct busy_length length, uint32_t waited_us,
	uint32_t first_asked_us)
{
	history->lengths[history->count++ % BUSY_LENGTHS_MAX] = length;
	history->lead_us = first_asked_us > waited_us ? first_asked_us - waited_us : 0;
	history->never_busy = length.above_us == 0 ? history->never_busy + 1 : 0;
}
