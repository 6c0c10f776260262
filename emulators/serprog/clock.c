/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <time.h>

#include "serprog/counter.h"

#define NS_PER_S UINT64_C(1000000000)
#define STEP_READINGS 1000

static uint64_t read_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock_source_read_ns(enum clock_source source)
{
#ifdef COUNTER_NAME
	if (source == CLOCK_SOURCE_COUNTER)
		return counter_read_ns();
#else
	assert(source != CLOCK_SOURCE_COUNTER);
#endif
	return read_monotonic_ns();
}

static uint64_t read_now_ns(const struct clock *clock)
{
	return clock->source == CLOCK_SOURCE_SCRIPTED ? clock->scripted_ns
						      : clock_source_read_ns(clock->source);
}

uint64_t clock_now_ns(struct clock *clock)
{
	uint64_t now_ns = read_now_ns(clock);

	if (now_ns < clock->last_ns) {
		clock->backward_count++;
		return clock->last_ns;
	}
	clock->last_ns = now_ns;
	return now_ns;
}

static uint64_t measure_step_ns(struct clock *clock)
{
	uint64_t step_ns = UINT64_MAX;
	uint64_t before_ns = clock_now_ns(clock);

	for (int i = 0; i < STEP_READINGS; i++) {
		uint64_t now_ns = clock_now_ns(clock);

		if (now_ns > before_ns && now_ns - before_ns < step_ns)
			step_ns = now_ns - before_ns;
		before_ns = now_ns;
	}
	return step_ns;
}

int clock_init(struct clock *clock, enum clock_source source)
{
#ifndef COUNTER_NAME
	if (source == CLOCK_SOURCE_COUNTER)
		return -ENOTSUP;
#endif
	*clock = (struct clock){.source = source, .stop_fd = -1, .peer_fd = -1};
	/* A coarse clock may need more readings than these until it steps. */
	do
		clock->step_ns = measure_step_ns(clock);
	while (clock->step_ns == UINT64_MAX);
	return 0;
}

void clock_init_scripted(struct clock *clock, uint64_t step_ns)
{
	*clock = (struct clock){
		.source = CLOCK_SOURCE_SCRIPTED,
		.step_ns = step_ns,
		.scripted_ns = CLOCK_SCRIPTED_START_NS,
		.stop_fd = -1,
		.peer_fd = -1,
	};
}

void clock_tick(struct clock *clock)
{
	if (clock->source == CLOCK_SOURCE_SCRIPTED)
		clock->scripted_ns += clock->step_ns;
}

/* Returns true if a descriptor ended the sleep. After an error the caller sleeps again. */
static bool sleep_ns(const struct clock *clock, uint64_t ns)
{
	struct pollfd fds[] = {
		{.fd = clock->stop_fd, .events = POLLIN},
		{.fd = clock->peer_fd, .events = POLLRDHUP},
	};
	const struct timespec timeout = {
		.tv_sec = (time_t)(ns / NS_PER_S),
		.tv_nsec = (long)(ns % NS_PER_S),
	};

	return ppoll(fds, sizeof(fds) / sizeof(fds[0]), &timeout, NULL) > 0;
}

int clock_wait_until(struct clock *clock, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_now_ns(clock);

	if (clock->source == CLOCK_SOURCE_SCRIPTED && now_ns < deadline_ns) {
		clock->scripted_ns = deadline_ns;
		return 0;
	}
	while (now_ns < deadline_ns) {
		uint64_t left_ns = deadline_ns - now_ns;

		if (left_ns > CLOCK_EXACT_NS && sleep_ns(clock, left_ns - CLOCK_EXACT_NS / 2))
			return -ECANCELED;
		now_ns = clock_now_ns(clock);
	}
	return 0;
}

const char *clock_source_name(enum clock_source source)
{
	static const char *const names[] = {
		[CLOCK_SOURCE_MONOTONIC] = "monotonic",
#ifdef COUNTER_NAME
		[CLOCK_SOURCE_COUNTER] = COUNTER_NAME,
#else
		[CLOCK_SOURCE_COUNTER] = "counter",
#endif
		[CLOCK_SOURCE_SCRIPTED] = "scripted",
	};

	return names[source];
}
