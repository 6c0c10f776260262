/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure.h"

#include <errno.h>
#include <stdlib.h>

const unsigned int bench_lengths_us[LENGTHS] = {1, 10, 100, 1000};

static int compare(const void *left, const void *right)
{
	const double a = *(const double *)left;
	const double b = *(const double *)right;

	return (a > b) - (a < b);
}

static void run_batch(const struct wait *wait, unsigned int usecs, unsigned int waits,
	double *overshoots_ns, struct batch *out)
{
	const int64_t cpu_ns = bench_cpu_ns();
	double sum_ns = 0;

	for (unsigned int i = 0; i < waits; i++) {
		const int64_t start_ns = bench_now_ns();

		wait->wait(usecs);
		overshoots_ns[i] = (double)(bench_now_ns() - start_ns - (int64_t)usecs * 1000);
		sum_ns += overshoots_ns[i];
	}
	out->cpu_ns = (double)(bench_cpu_ns() - cpu_ns) / waits;
	qsort(overshoots_ns, waits, sizeof(*overshoots_ns), compare);
	out->overshoot_ns_mean = sum_ns / waits;
	out->overshoot_ns_p50 = overshoots_ns[(waits - 1) / 2];
	out->overshoot_ns_p99 = overshoots_ns[(waits - 1) * 99 / 100];
	out->overshoot_ns_max = overshoots_ns[waits - 1];
}

/*
 * The scheduler gives a wait less CPU time after one that polled. So each round begins with another
 * kind, and every second round goes through the kinds in reverse.
 */
static void run_round(unsigned int round, unsigned int length_us, unsigned int waits,
	double *overshoots_ns, struct batch *results)
{
	const unsigned int stride = round % 2 == 0 ? 1 : WAITS - 1;

	for (unsigned int i = 0; i < WAITS; i++) {
		const unsigned int w = (round + i * stride) % WAITS;

		run_batch(&bench_waits[w], length_us, waits, overshoots_ns, &results[w]);
	}
}

/* Stores results in the order of rounds, then lengths, then kinds of waits. */
static void run_batches(
	unsigned int batches, unsigned int waits, double *overshoots_ns, struct batch *results)
{
	for (unsigned int b = 0; b < batches; b++) {
		for (unsigned int l = 0; l < LENGTHS; l++) {
			run_round(b, bench_lengths_us[l], waits, overshoots_ns, results);
			results += WAITS;
		}
	}
}

/* Returns the median of the double at `offset` in every LENGTHS * WAITS-th batch. */
static double median_of(
	const struct batch *first, unsigned int batches, size_t offset, double *column)
{
	for (unsigned int b = 0; b < batches; b++) {
		const char *batch = (const char *)(first + (size_t)b * LENGTHS * WAITS);

		column[b] = *(const double *)(const void *)(batch + offset);
	}
	qsort(column, batches, sizeof(*column), compare);
	return column[batches / 2];
}

static void fold(
	const struct batch *results, unsigned int batches, double *column, struct table *out)
{
	static const size_t offsets[] = {
		offsetof(struct batch, overshoot_ns_mean),
		offsetof(struct batch, overshoot_ns_p50),
		offsetof(struct batch, overshoot_ns_p99),
		offsetof(struct batch, overshoot_ns_max),
		offsetof(struct batch, cpu_ns),
	};
	struct batch *medians = &out->median[0][0];

	for (int i = 0; i < LENGTHS * WAITS; i++) {
		for (size_t o = 0; o < sizeof(offsets) / sizeof(offsets[0]); o++) {
			double *to = (double *)(void *)((char *)&medians[i] + offsets[o]);

			*to = median_of(&results[i], batches, offsets[o], column);
		}
	}
}

int table_measure(unsigned int batches, unsigned int waits, struct table *out)
{
	double *overshoots_ns = calloc(waits, sizeof(*overshoots_ns));
	double *column = calloc(batches, sizeof(*column));
	struct batch *results = calloc((size_t)batches * LENGTHS * WAITS, sizeof(*results));
	int error = -ENOMEM;

	if (overshoots_ns != NULL && column != NULL && results != NULL) {
		run_batches(batches, waits, overshoots_ns, results);
		fold(results, batches, column, out);
		error = 0;
	}
	free(results);
	free(column);
	free(overshoots_ns);
	return error;
}
