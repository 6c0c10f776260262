/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The readings of a series. A function that takes a series and a line either adds its readings to
 * the line and returns 0, or adds nothing and returns a negative errno.
 */
#ifndef LATENCY_READINGS_H
#define LATENCY_READINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "series.h"
#include "shared/json_line.h"

/* Writes the kernel's settings and texts about clocks, timers and CPUs, without interpretation. */
int facts_write(const struct series *series, struct json_line *line);

/* Writes the cost of reading the clock, which every figure of this program includes. */
int audit_write(const struct series *series, struct json_line *line);

int readings_of_wait(const struct series *series, struct json_line *line);
int readings_of_sweep(const struct series *series, struct json_line *line);
int readings_of_periods(const struct series *series, struct json_line *line);

/*
 * Writes how often a CPU's own timer interrupts it while this process sleeps, and then while it
 * computes.
 */
int ticks_write(const struct series *series, struct json_line *line);

/* Returns true if a line of /proc/timer_list is about the handling of timers, not about a timer. */
bool facts_keeps(const char *line);

/*
 * Returns the interrupts of that CPU's own timer, from the text of /proc/interrupts: the row `LOC`
 * of x86, or the row of `arch_timer`. Returns -1 if there is no such row or column.
 */
int64_t ticks_count(FILE *interrupts, int64_t cpu);

/* Returns the same for this machine, or -1. */
int64_t ticks_now(int64_t cpu);

#define QUANTILES 101

/* Statistics of many readings, in whole nanoseconds. */
struct statistics {
	size_t count;
	int64_t mean_ns;
	int64_t deviation_ns; /* the sample deviation (divisor count - 1); 0 for a single reading */
	int64_t quantile_ns[QUANTILES]; /* [0] is the least, [50] the median, [100] the largest */
};

/*
 * Sorts `readings_ns` and computes the statistics. quantile_ns[p] is the nearest-rank percentile:
 * the least reading that is equal to or above p % of all readings. All are 0 if `count` is 0.
 */
void statistics_fold(int64_t *readings_ns, size_t count, struct statistics *out);

#endif
