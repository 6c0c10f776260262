/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "busy.h"

#include <errno.h>
#include <inttypes.h>

#include "flash.h"

/*
 * A question costs a round trip and may come just too early, so that the next one notices the part
 * a round trip or a poll interval late. A 32nd of the typical time bounds that loss; what is then
 * shorter than a round trip is not waited for at all.
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

/* Twice the datasheet's maximum, and a second for a host that was busy elsewhere. */
uint64_t busy_timeout_ns(const struct busy_time *busy)
{
	return 2 * NS_PER_US * busy->max_us + 1000 * NS_PER_MS;
}

/* Where the lengths of such operations are kept; NULL if there are too many kinds. */
static struct busy_history *history_of(struct flash *flash, const struct busy_time *busy)
{
	for (size_t i = 0; i < BUSY_OPERATIONS_MAX; i++) {
		struct busy_history *history = &flash->history[i];

		if (history->of == NULL)
			history->of = busy;
		if (history->of == busy)
			return history;
	}
	return NULL;
}

static uint32_t shortest_us(const struct busy_history *history)
{
	const unsigned int kept =
		history->count < BUSY_LENGTHS_MAX ? history->count : BUSY_LENGTHS_MAX;
	uint32_t us = UINT32_MAX;

	for (unsigned int i = 0; i < kept; i++)
		us = history->length_us[i] < us ? history->length_us[i] : us;
	return us;
}

static void remember(struct busy_history *history, uint64_t length_us)
{
	if (history == NULL)
		return;
	history->length_us[history->count++ % BUSY_LENGTHS_MAX] =
		length_us < UINT32_MAX ? (uint32_t)length_us : UINT32_MAX;
}

/*
 * An eighth is left to questions: a part that got faster is noticed, and the shortest length of
 * late goes down again, by an eighth each time.
 */
static uint32_t first_wait_us(const struct busy_history *history, const struct busy_time *busy)
{
	uint32_t us;

	if (history == NULL || history->count == 0)
		return busy->typ_us / 2;
	us = shortest_us(history);
	us = us < busy->max_us ? us : busy->max_us;
	return us - us / 8;
}

static int report_stuck(const struct flash *flash, const char *what, uint64_t timeout_ns)
{
	log_error(flash->log,
		"The chip is still busy %" PRIu64 " ms after the start of %s: check its supply and "
		"wiring, and that -c names the right chip.\n",
		timeout_ns / NS_PER_MS, what);
	return -ETIMEDOUT;
}

static int report_ready(
	const struct flash *flash, const char *what, uint32_t polls, uint32_t poll_us)
{
	log_spew(flash->log,
		"Ready from %s at status read %" PRIu32 ", each %" PRIu32 " us apart.\n", what,
		polls, poll_us);
	return 0;
}

static uint64_t elapsed_ns(const struct flash *flash, uint64_t start_ns)
{
	return clock_now_ns(flash->clock) - start_ns;
}

/* Gives up only on an answer that was asked for after the deadline: the host may have stalled. */
static int poll_until_ready(struct flash *flash, const struct busy_time *busy, const char *what,
	busy_ask_fn ask, uint32_t address, uint64_t start_ns)
{
	const uint64_t timeout_ns = busy_timeout_ns(busy);
	const uint32_t poll_us = busy_poll_us(busy->typ_us);

	for (uint32_t polls = 1;; polls++) {
		const bool last = elapsed_ns(flash, start_ns) >= timeout_ns;
		bool ready;
		int error = ask(flash, address, &ready);

		if (error != 0)
			return error;
		if (ready)
			return report_ready(flash, what, polls, poll_us);
		if (last)
			return report_stuck(flash, what, timeout_ns);
		error = poll_us == 0 ? 0 : flash_wait_us(flash, poll_us);
		if (error != 0)
			return error;
	}
}

#ifdef CONFIG_BUSY_TEST_FIXED_WAITS
/*
 * A flashrom that trusts its delays, for those who test whether short ones get caught: nothing but
 * the wait keeps the next command from a part that is still busy.
 */
int busy_wait(struct flash *flash, const struct busy_time *busy, const char *what, busy_ask_fn ask,
	uint32_t address)
{
	(void)poll_until_ready;
	(void)first_wait_us;
	(void)history_of;
	(void)remember;
	(void)what;
	(void)ask;
	(void)address;
	return flash_wait_us(flash, busy->max_us);
}
#else
int busy_wait(struct flash *flash, const struct busy_time *busy, const char *what, busy_ask_fn ask,
	uint32_t address)
{
	struct busy_history *history = history_of(flash, busy);
	const uint64_t start_ns = clock_now_ns(flash->clock);
	int error = flash_wait_us(flash, first_wait_us(history, busy));

	if (error == 0)
		error = poll_until_ready(flash, busy, what, ask, address, start_ns);
	if (error == 0)
		remember(history, elapsed_ns(flash, start_ns) / NS_PER_US);
	return error;
}
#endif
