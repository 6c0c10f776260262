/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock that a chip lives by, in nanoseconds. One thread owns a clock.
 */
#ifndef EMULATORS_SERPROG_CLOCK_H
#define EMULATORS_SERPROG_CLOCK_H

#include <stdint.h>

enum clock_source {
	CLOCK_SOURCE_MONOTONIC, /* the kernel's CLOCK_MONOTONIC */
	/* The raw x86 counter taken as nanoseconds: true in a QEMU guest under -icount only. */
	CLOCK_SOURCE_TSC,
};

struct clock {
	enum clock_source source;
	uint64_t last_ns;
	uint64_t step_ns;        /* the smallest step seen between two readings */
	uint64_t backward_count; /* a sound run has none */
};

/* Measures the step. -ENOTSUP if this machine has no such clock. */
int clock_init(struct clock *clock, enum clock_source source);

/* Never less than the time before: a step back is counted, and hidden from the caller. */
uint64_t clock_now_ns(struct clock *clock);

/* The same reading for another thread, which must not share the clock itself. */
uint64_t clock_source_read_ns(enum clock_source source);

/* Sleeps while the deadline is far and spins at the end: never early. */
void clock_wait_until(struct clock *clock, uint64_t deadline_ns);

const char *clock_source_name(enum clock_source source);

#endif
