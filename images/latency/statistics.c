// SPDX-License-Identifier: GPL-2.0-or-later
#include "readings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *)left;
	const int64_t b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static int64_t nearest_rank(const int64_t *sorted_ns, size_t count, size_t percent)
{
	const size_t rank = (percent * count + QUANTILES - 2) / (QUANTILES - 1);

	return sorted_ns[rank > 0 ? rank - 1 : 0];
}

void statistics_fold(int64_t *readings_ns, size_t count, struct statistics *out)
{
	double sum_ns = 0;
	double squares = 0;
	double mean_ns;

	memset(out, 0, sizeof(*out));
	if (count == 0)
		return;
	qsort(readings_ns, count, sizeof(*readings_ns), by_size);
	for (size_t i = 0; i < count; i++)
		sum_ns += (double)readings_ns[i];
	mean_ns = sum_ns / (double)count;
	for (size_t i = 0; i < count; i++) {
		const double off_ns = (double)readings_ns[i] - mean_ns;

		squares += off_ns * off_ns;
	}
	out->count = count;
	out->mean_ns = llround(mean_ns);
	out->deviation_ns = count > 1 ? llround(sqrt(squares / (double)(count - 1))) : 0;
	for (size_t q = 0; q < QUANTILES; q++)
		out->quantile_ns[q] = nearest_rank(readings_ns, count, q);
}
