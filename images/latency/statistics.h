/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of many readings. Everything is in whole nanoseconds. */
#ifndef LATENCY_STATISTICS_H
#define LATENCY_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#define QUANTILES 101

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
