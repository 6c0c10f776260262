/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A clock and a log for our flashrom. The clock advances with every reading, so that each wait for
 * a strange device ends; the log formats every message and keeps none.
 */
#ifndef TESTS_FUZZ_HOST_H
#define TESTS_FUZZ_HOST_H

#include <string.h>

#include "clock.h"
#include "fuzz.h"
#include "log.h"

#define HOST_LOOK_NS (10 * NS_PER_MS)

/* Advances the clock and returns its time, the uint64_t with which @context begins. */
static inline uint64_t host_now_ns(void *context)
{
	return *(uint64_t *)context += HOST_LOOK_NS;
}

static inline void host_delay_us(void *context, unsigned int us)
{
	*(uint64_t *)context += us * NS_PER_US;
}

static inline struct clock host_clock(void *context)
{
	return (struct clock){.now_ns = host_now_ns, .delay_us = host_delay_us, .context = context};
}

static inline void host_emit(void *sink, enum log_level level, const char *text)
{
	(void)sink;
	(void)level;
	FUZZ_CHECK(strlen(text) < 1024);
}

static inline struct log host_log(void)
{
	return (struct log){.emit = host_emit, .level_max = LOG_SPEW};
}

#endif
