/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock that a chip lives by, in nanoseconds. One thread owns a clock. */
#ifndef EMULATORS_SERPROG_CLOCK_H
#define EMULATORS_SERPROG_CLOCK_H

#include <stdint.h>

enum clock_source {
	CLOCK_SOURCE_MONOTONIC, /* the kernel's CLOCK_MONOTONIC */
	/* The CPU's raw counter (counter.h): true in a QEMU guest under -icount only. */
	CLOCK_SOURCE_COUNTER,
	/* For tests: stands still but for clock_tick() and for waits, which take no time. */
	CLOCK_SOURCE_SCRIPTED,
};

/* Room before it for a part that was powered up earlier. */
#define CLOCK_SCRIPTED_START_NS UINT64_C(1000000000)

struct clock {
	enum clock_source source;
	uint64_t last_ns;
	uint64_t step_ns;        /* the smallest step seen between two readings, or scripted */
	uint64_t scripted_ns;    /* the value of CLOCK_SOURCE_SCRIPTED */
	uint64_t backward_count; /* a sound run has none */
	int stop_fd;             /* ends waits when it is readable; -1: none */
	int peer_fd;             /* ends waits when its other side hangs up; -1: none */
};

/* Measures the step. -ENOTSUP if this machine has no such clock. */
int clock_init(struct clock *clock, enum clock_source source);

void clock_init_scripted(struct clock *clock, uint64_t step_ns);

/* One step of a scripted clock. Others go by themselves. */
void clock_tick(struct clock *clock);

/* Never less than the time before: a step back is counted, and hidden from the caller. */
uint64_t clock_now_ns(struct clock *clock);

/* The same reading for another thread, which must not share the clock. Not of a scripted one. */
uint64_t clock_source_read_ns(enum clock_source source);

/*
 * Sleeps while the deadline is far and spins at the end: never early. -ECANCELED where the clock's
 * descriptors ended it first; waits of less than 20 ms do not look at them.
 */
int clock_wait_until(struct clock *clock, uint64_t deadline_ns);

/* As in `--clock NAME`; the counter has the name that it has on this machine. */
const char *clock_source_name(enum clock_source source);

/*
 * The time from writing bytes to a socket until this process has them (wake.c): the uncertainty
 * that a blocked read adds to every observation.
 */
struct wake_latency {
	uint64_t ns_min;
	uint64_t ns_max;
};

/*
 * Has a thread of normal priority send @round_count times over a loopback connection while this
 * one sleeps in poll(), as it does between requests. The thread has ended when this returns.
 * Negative errno; @round_count is at least 1.
 */
int wake_measure(enum clock_source source, unsigned int round_count, struct wake_latency *latency);

#endif
