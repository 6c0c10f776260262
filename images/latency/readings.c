/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "readings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "clock.h"

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

/* Allocates the readings and touches their memory, so that no reading includes a page fault. */
static int64_t *allocate_readings(size_t count)
{
	int64_t *readings = malloc(count * sizeof(*readings));

	if (readings)
		memset(readings, 0xff, count * sizeof(*readings));
	return readings;
}

static int64_t deadline_ns(const struct series *series)
{
	return series->limit_ms > 0 ? clock_now_ns() + series->limit_ms * NS_PER_MS : INT64_MAX;
}

/* A point in time, and the CPU time and context switches of this process until then. */
struct cost {
	int64_t at_ns;
	int64_t cpu_ns;
	struct rusage usage;
};

static struct cost cost_now(void)
{
	struct cost cost;

	getrusage(RUSAGE_SELF, &cost.usage);
	cost.cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	cost.at_ns = clock_now_ns();
	return cost;
}

/* Writes when the readings began and ended, so that the rig can check if the host kept up. */
static void write_span(struct json_line *line, int64_t began_ns, int64_t ended_ns)
{
	json_signed(line, "began_ns", began_ns);
	json_signed(line, "ended_ns", ended_ns);
}

static void write_cost(struct json_line *line, const struct cost *begin)
{
	const struct cost end = cost_now();

	json_signed(line, "cpu_ns", end.cpu_ns - begin->cpu_ns);
	json_signed(line, "voluntary_switches", end.usage.ru_nvcsw - begin->usage.ru_nvcsw);
	json_signed(line, "involuntary_switches", end.usage.ru_nivcsw - begin->usage.ru_nivcsw);
}

/* Sorts the readings and writes their statistics. */
static void write_statistics(struct json_line *line, int64_t *readings_ns, size_t count)
{
	struct statistics statistics;

	statistics_fold(readings_ns, count, &statistics);
	json_signed(line, "count", (int64_t)statistics.count);
	json_signed(line, "mean_ns", statistics.mean_ns);
	json_signed(line, "deviation_ns", statistics.deviation_ns);
	json_list_signed(line, "quantiles_ns", statistics.quantile_ns, QUANTILES);
}

static int64_t count_below(const int64_t *values, size_t count, int64_t limit)
{
	int64_t below = 0;

	for (size_t i = 0; i < count; i++)
		below += values[i] < limit;
	return below;
}

/* Waits `count` times, each `step_ns` longer. The time limit cuts off the last waits. */
static int take_waits(const struct series *series, struct json_line *line, int64_t request_ns,
	int64_t step_ns, size_t count)
{
	int64_t *elapsed_ns = allocate_readings(count);
	const struct cost begin = cost_now();
	const int64_t until_ns = deadline_ns(series);
	int64_t after_ns;
	int64_t early = 0;
	size_t taken = 0;

	if (!elapsed_ns)
		return -ENOMEM;
	do {
		const int64_t before_ns = clock_now_ns();

		series->wait->wait(request_ns);
		after_ns = clock_now_ns();
		elapsed_ns[taken] = after_ns - before_ns;
		early += elapsed_ns[taken++] < request_ns;
		request_ns += step_ns;
	} while (taken < count && after_ns < until_ns);
	if (step_ns == 0)
		write_cost(line, &begin);
	write_span(line, begin.at_ns, after_ns);
	json_signed(line, "early", early);
	if (step_ns == 0)
		write_statistics(line, elapsed_ns, taken);
	else
		json_list_signed(line, "elapsed_ns", elapsed_ns, taken);
	free(elapsed_ns);
	return 0;
}

int readings_of_wait(const struct series *series, struct json_line *line)
{
	return take_waits(series, line, series->request_ns, 0, (size_t)series->count);
}

int readings_of_sweep(const struct series *series, struct json_line *line)
{
	const int64_t steps = (series->to_ns - series->from_ns) / series->step_ns;

	return take_waits(series, line, series->from_ns, series->step_ns, (size_t)steps + 1);
}

/*
 * A period overruns if the task wakes up when the next period is already due. No period is skipped:
 * after an overrun the task is late for the following periods too, until it has caught up.
 */
int readings_of_periods(const struct series *series, struct json_line *line)
{
	int64_t *late_ns = allocate_readings((size_t)series->count);
	const int64_t until_ns = deadline_ns(series);
	const struct cost begin = cost_now();
	int64_t due_ns = begin.at_ns;
	int64_t now_ns;
	size_t taken = 0;

	if (!late_ns)
		return -ENOMEM;
	do {
		struct timespec due;

		due_ns += series->request_ns;
		due = clock_timespec(due_ns);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		now_ns = clock_now_ns();
		late_ns[taken++] = now_ns - due_ns;
	} while (taken < (size_t)series->count && now_ns < until_ns);
	write_cost(line, &begin);
	write_span(line, begin.at_ns, now_ns);
	json_signed(line, "early", count_below(late_ns, taken, 0));
	json_signed(
		line, "overruns", (int64_t)taken - count_below(late_ns, taken, series->request_ns));
	write_statistics(line, late_ns, taken);
	free(late_ns);
	return 0;
}
