/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One series of readings, as a word of the command line asks for it: `KIND` or
 * `KIND:KEY=VALUE,KEY=VALUE...`.
 *
 *   facts     what the kernel says of its timers
 *   audit     what a reading costs by itself
 *   wait      a wait of one length, again and again
 *   sweep     a wait of each length from `from_ns` to `to_ns`, once
 *   periods   a task that is due every `request_ns`: how late it wakes up
 *   ticks     timer interrupts of a CPU while it idles, and while one task computes, `request_ns`
 *
 *   wait=NAME        of waits.h
 *   request_ns=N     what is asked for
 *   from_ns=N, to_ns=N, step_ns=N
 *   count=N          how often
 *   limit_ms=N       no longer than that, whatever the count
 *   fifo=N           at SCHED_FIFO with that priority; 0 means normal
 *   slack_ns=N       timer slack of the thread; 0 leaves it as it is
 *   cpu=N            on that CPU alone; left out: wherever the kernel likes
 *   eaters=N         beside that many loops on each CPU that this process may use, or on `cpu`
 *                    alone where that is none of them
 *   hold_us=N        with that much in /dev/cpu_dma_latency; left out: nothing is held
 */
#ifndef LATENCY_SERIES_H
#define LATENCY_SERIES_H

#include <stdint.h>

#include "waits.h"

#define SERIES_COUNT_MAX 1000000
#define SERIES_EATERS_MAX 64

enum series_kind {
	SERIES_FACTS,
	SERIES_AUDIT,
	SERIES_WAIT,
	SERIES_SWEEP,
	SERIES_PERIODS,
	SERIES_TICKS,
};

struct series {
	enum series_kind kind;
	const struct wait *wait;
	int64_t request_ns;
	int64_t from_ns;
	int64_t to_ns;
	int64_t step_ns;
	int64_t count;
	int64_t limit_ms;
	int64_t fifo_priority;
	int64_t slack_ns;
	int64_t cpu; /* -1: any */
	int64_t eaters;
	int64_t hold_us; /* -1: nothing is held */
};

/*
 * Reads one word, in place. 0, or -EINVAL for a word that makes no sense or asks for what could
 * not end: it lacks what its kind needs.
 */
int series_parse(char *word, struct series *out);

#endif
