/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fake clock and a fake log for our flashrom. Each reading advances the clock, so that each wait
 * for an unresponsive device ends. The log formats every message and drops it.
 */
#ifndef TESTS_FUZZ_FAKES_H
#define TESTS_FUZZ_FAKES_H

#include <string.h>

#include "clock.h"
#include "fuzz.h"
#include "log.h"

#define FAKE_READING_NS (10 * NS_PER_MS)

/* Advances the clock and returns its time, the uint64_t with which @context begins. */
static inline uint64_t fake_now_ns(void *context)
{
	return *(uint64_t *)context += FAKE_READING_NS;
}

static inline void fake_delay_us(void *context, unsigned int us)
{
	*(uint64_t *)context += us * NS_PER_US;
}

static inline struct clock fake_clock(void *context)
{
	return (struct clock){.now_ns = fake_now_ns, .delay_us = fake_delay_us, .context = context};
}

static inline void fake_emit(void *sink, enum log_level level, const char *text)
{
	(void)sink;
	(void)level;
	FUZZ_CHECK(strlen(text) < 1024);
}

static inline struct log fake_log(void)
{
	return (struct log){.emit = fake_emit, .level_max = LOG_SPEW};
}

#endif
