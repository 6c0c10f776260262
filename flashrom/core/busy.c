/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "flash.h"

/* Lengths that differ by less than 1/128, or by a few us of noise, count as equal. */
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
 * Shortens the wait while only upper bounds are known, because the part was ready at the first
 * query each time. The step doubles with each such operation. After BUSY_LENGTHS_MAX of them it is
 * small again, because a part that is queried just in time looks the same.
 */
static uint32_t search_down_us(const struct busy_history *history, uint32_t below_us)
{
	const unsigned int doublings = history->never_busy % BUSY_LENGTHS_MAX +
				       (is_young(history) ? DOUBLINGS_WHILE_YOUNG : 0);
	const uint64_t down_us = (uint64_t)step_us(below_us) << doublings;

	return down_us < below_us / 2 ? below_us - (uint32_t)down_us : below_us / 2;
}

/* Returns the time at which the first query should reach the part. */
static uint32_t first_query_us(const struct busy_history *history)
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
 * While few lengths are known, the next one may be much shorter, so the wait stays below the
 * typical time.
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
	wait_us = first_query_us(history);
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

/*
 * A query costs a round trip. If it comes just too early, the next one sees the part ready a round
 * trip or a poll interval late. An interval of 1/32 of the typical time bounds that loss. Intervals
 * shorter than a round trip are not waited for.
 */
#define POLLS_PER_TYP 32
#define POLL_US_MIN 50
#define POLL_US_MAX 100000

uint32_t busy_poll_us(uint32_t typ_us)
{
	const uint32_t poll_us = typ_us / POLLS_PER_TYP;

	if (poll_us < POLL_US_MIN)
		return 0;
	return poll_us > POLL_US_MAX ? POLL_US_MAX : poll_us;
}

/* Twice the datasheet's maximum, and a second in case this machine is busy. */
uint64_t busy_timeout_ns(const struct busy_time *busy)
{
	return 2 * NS_PER_US * busy->max_us + 1000 * NS_PER_MS;
}

/* One wait. All times count from the end of the command. */
struct wait {
	struct flash *flash;
	const struct busy_time *busy;
	uint64_t start_ns;
	uint32_t polls;
	uint32_t first_asked_us;
	struct busy_length length;
};

static uint64_t elapsed_ns(const struct wait *wait)
{
	return clock_now_ns(wait->flash->clock) - wait->start_ns;
}

static uint32_t to_us(uint64_t ns)
{
	const uint64_t us = ns / NS_PER_US;

	return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

/* The answer is the state at some time between query and reply. The middle is recorded. */
static int ask_once(struct wait *wait, busy_ask_fn ask, uint32_t address, bool *ready)
{
	const uint64_t asked_ns = elapsed_ns(wait);
	const int error = ask(wait->flash, address, ready);
	uint32_t looked_us;

	if (error != 0)
		return error;
	looked_us = to_us(asked_ns + (elapsed_ns(wait) - asked_ns) / 2);
	if (wait->polls++ == 0)
		wait->first_asked_us = looked_us;
	*(*ready ? &wait->length.below_us : &wait->length.above_us) = looked_us;
	return 0;
}

static int report_stuck(const struct wait *wait, const char *what)
{
	log_error(wait->flash->log,
		"The chip is still busy %" PRIu64 " ms after the start of %s: check its supply and "
		"wiring, and that -c names the right chip.\n",
		busy_timeout_ns(wait->busy) / NS_PER_MS, what);
	return -ETIMEDOUT;
}

static int report_ready(const struct wait *wait, const char *what)
{
	log_spew(wait->flash->log,
		"Ready from %s at status read %" PRIu32 ", each %" PRIu32 " us apart.\n", what,
		wait->polls, busy_poll_us(wait->busy->typ_us));
	return 0;
}

/*
 * The deadline is checked before each query, so that the last query comes after it. So if the
 * process slept past the deadline, it still sees that the part is ready.
 */
static int poll_until_ready(struct wait *wait, const char *what, busy_ask_fn ask, uint32_t address)
{
	const uint32_t poll_us = busy_poll_us(wait->busy->typ_us);

	while (true) {
		const bool last = elapsed_ns(wait) >= busy_timeout_ns(wait->busy);
		bool ready;
		int error = ask_once(wait, ask, address, &ready);

		if (error != 0)
			return error;
		if (ready)
			return report_ready(wait, what);
		if (last)
			return report_stuck(wait, what);
		error = poll_us == 0 ? 0 : flash_wait_us(wait->flash, poll_us);
		if (error != 0)
			return error;
	}
}

/*
 * Returns the history of this kind of operations. If the table is full, returns `temporary`, an
 * empty history that is lost after the wait.
 */
static struct busy_history *history_of(
	struct flash *flash, const struct busy_time *busy, struct busy_history *temporary)
{
	for (size_t i = 0; i < BUSY_OPERATIONS_MAX; i++) {
		struct busy_history *history = &flash->history[i];

		if (history->of == NULL)
			history->of = busy;
		if (history->of == busy)
			return history;
	}
	*temporary = (struct busy_history){.of = busy};
	return temporary;
}

static int wait_and_ask(struct flash *flash, const struct busy_time *busy, const char *what,
	busy_ask_fn ask, uint32_t address)
{
	struct wait wait = {.flash = flash, .busy = busy};
	struct busy_history temporary;
	struct busy_history *history = history_of(flash, busy, &temporary);
	const uint32_t wait_us = busy_history_wait_us(history);
	int error = flash_flush(flash);

	wait.start_ns = clock_now_ns(flash->clock);
	if (error == 0)
		error = flash_wait_us(flash, wait_us);
	if (error == 0)
		error = poll_until_ready(&wait, what, ask, address);
	if (error == 0)
		busy_history_add(history, wait.length, wait_us, wait.first_asked_us);
	return error;
}

#ifdef CONFIG_BUSY_TEST_FIXED_WAITS
/*
 * A maximum of more than this many typical times is taken for a guess. That includes the status
 * register write of AT25DF.
 */
#define GUESS_RATIO 64

/* Returns true if the times are guesses, as for an operation that an earlier session began. */
static bool is_guess(const struct busy_time *busy)
{
	return busy->typ_us > 0 && busy->max_us / busy->typ_us > GUESS_RATIO;
}
#endif

/*
 * The test build waits for the maximum instead of asking. So if a delay returns early, the next
 * command reaches a busy part, and the chip witness sees it.
 */
int busy_wait(struct flash *flash, const struct busy_time *busy, const char *what, busy_ask_fn ask,
	uint32_t address)
{
#ifdef CONFIG_BUSY_TEST_FIXED_WAITS
	if (!is_guess(busy))
		return flash_wait_us(flash, busy->max_us);
#endif
	return wait_and_ask(flash, busy, what, ask, address);
}
