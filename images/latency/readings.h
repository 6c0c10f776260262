/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes what a series asks for and adds it to `line`. 0, or a negative errno with nothing added. */
#ifndef LATENCY_READINGS_H
#define LATENCY_READINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "series.h"
#include "shared/json_line.h"

/* Writes the kernel's statements about its timers, word for word; the reader interprets them. */
int facts_write(const struct series *series, struct json_line *line);

/* Writes the cost of a reading, which is included in every figure of this program. */
int audit_write(const struct series *series, struct json_line *line);

int readings_of_wait(const struct series *series, struct json_line *line);
int readings_of_sweep(const struct series *series, struct json_line *line);
int readings_of_periods(const struct series *series, struct json_line *line);

/*
 * Writes how often a CPU's own timer interrupts it: while it idles, then while this process
 * computes.
 */
int ticks_write(const struct series *series, struct json_line *line);

/* Returns true if a line of /proc/timer_list says how timers are served, not which there are. */
bool facts_keeps(const char *line);

/*
 * Interrupts of that CPU's own timer, from the text of /proc/interrupts: the row `LOC` of x86, or
 * the one of `arch_timer`. -1 where there is no such row or column.
 */
int64_t ticks_count(FILE *interrupts, int64_t cpu);

#define QUANTILES 101

/* Statistics of many readings. Everything is in whole nanoseconds. */
struct statistics {
	size_t count;
	int64_t mean_ns;
	int64_t deviation_ns; /* for a sample: divided by count - 1; 0 for a single reading */
	int64_t quantile_ns[QUANTILES]; /* [0] is the least, [50] the median, [100] the most */
};

/*
 * Sorts `readings` and folds them. A quantile is the nearest rank: the least reading that at least
 * so many per cent of all readings do not exceed, and so always one that was seen. Without any
 * reading all is zero.
 */
void statistics_fold(int64_t *readings_ns, size_t count, struct statistics *out);

#endif
