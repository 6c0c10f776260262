/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chip's clock, in nanoseconds. One thread owns a clock. */
#ifndef EMULATORS_SERPROG_CLOCK_H
#define EMULATORS_SERPROG_CLOCK_H

#include <stdint.h>

enum clock_source {
	CLOCK_SOURCE_MONOTONIC, /* the kernel's CLOCK_MONOTONIC */
	/* The CPU's raw counter (counter.h): right only in a QEMU guest under -icount. */
	CLOCK_SOURCE_COUNTER,
	/* For tests: moves only by clock_tick() and by waits, which take no real time. */
	CLOCK_SOURCE_SCRIPTED,
};

/* Not 0, so that a part can have been powered up before. */
#define CLOCK_SCRIPTED_START_NS UINT64_C(1000000000)

struct clock {
	enum clock_source source;
	uint64_t last_ns;
	uint64_t step_ns;        /* the smallest step seen between two readings, or scripted */
	uint64_t scripted_ns;    /* the value of CLOCK_SOURCE_SCRIPTED */
	uint64_t backward_count; /* the number of steps back; 0 in a valid run */
	int stop_fd;             /* ends waits when it is readable; -1: none */
	int peer_fd;             /* ends waits when its other side hangs up; -1: none */
};

/* Measures the step. Returns -ENOTSUP if this machine has no such clock. */
int clock_init(struct clock *clock, enum clock_source source);

void clock_init_scripted(struct clock *clock, uint64_t step_ns);

/* Moves a scripted clock by one step. Has no effect on other clocks. */
void clock_tick(struct clock *clock);

/* Returns the time. If the source stepped back, counts that and returns the last time again. */
uint64_t clock_now_ns(struct clock *clock);

/* Reads the source itself, for threads that do not own a clock. @source must not be scripted. */
uint64_t clock_source_read_ns(enum clock_source source);

/*
 * A wait of at most this time spins: stop_fd and peer_fd cannot end it, and no timer can make it
 * late. Timers of a guest without high resolution overshoot by up to two jiffies of 4 ms.
 */
#define CLOCK_EXACT_NS UINT64_C(20000000)

/*
 * Sleeps while the deadline is far, then spins, so that it never returns early. Returns -ECANCELED
 * if stop_fd or peer_fd ended the wait first.
 */
int clock_wait_until(struct clock *clock, uint64_t deadline_ns);

/* Returns the NAME of `--clock NAME`. The counter's name depends on the CPU. */
const char *clock_source_name(enum clock_source source);

/*
 * The time from writing bytes to a socket until this process has them: the uncertainty
 * that a blocked read adds to every observation.
 */
struct wake_latency {
	uint64_t ns_min;
	uint64_t ns_max;
};

/*
 * Measures @round_count wake-ups, at least 1: a thread of normal priority sends over a loopback
 * connection while this one sleeps in poll(), as it does between requests. The sending thread has
 * ended when this returns. Returns a negative errno on failure.
 */
int wake_measure(enum clock_source source, unsigned int round_count, struct wake_latency *latency);

#endif
