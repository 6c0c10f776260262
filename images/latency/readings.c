// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "readings.h"
#include "clock.h"
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Touched once, so that no reading waits for memory. */
static int64_t *room_for(size_t count)
{
	int64_t *readings = malloc(count * sizeof(*readings));

	if (readings)
		memset(readings, 0xff, count * sizeof(*readings));
	return readings;
}

static int64_t limit_of(const struct series *series)
{
	return series->limit_ms > 0 ? clock_now_ns() + series->limit_ms * NS_PER_MS : INT64_MAX;
}

/* What the series cost: CPU time, and how often the CPU was given up and taken away. */
struct cost {
	int64_t cpu_ns;
	struct rusage usage;
};

static void cost_begin(struct cost *cost)
{
	getrusage(RUSAGE_SELF, &cost->usage);
	cost->cpu_ns = clock_cpu_ns();
}

static void cost_write(const struct cost *begin, struct json_line *line)
{
	struct cost end;

	cost_begin(&end);
	json_signed(line, "cpu_ns", end.cpu_ns - begin->cpu_ns);
	json_signed(line, "voluntary_switches", end.usage.ru_nvcsw - begin->usage.ru_nvcsw);
	json_signed(line, "involuntary_switches", end.usage.ru_nivcsw - begin->usage.ru_nivcsw);
}

/* When the readings were taken: what happened to this machine meanwhile is in them. */
static void span_write(int64_t began_ns, int64_t ended_ns, struct json_line *line)
{
	json_signed(line, "began_ns", began_ns);
	json_signed(line, "ended_ns", ended_ns);
}

static size_t take_waits(const struct series *series, int64_t *elapsed_ns)
{
	const int64_t until_ns = limit_of(series);
	size_t taken = 0;

	while (taken < (size_t)series->count) {
		const int64_t before_ns = clock_now_ns();
		int64_t after_ns;

		series->wait->wait(series->request_ns);
		after_ns = clock_now_ns();
		elapsed_ns[taken++] = after_ns - before_ns;
		if (after_ns >= until_ns)
			break;
	}
	return taken;
}

static int64_t count_below(const int64_t *values, size_t count, int64_t limit)
{
	int64_t below = 0;

	for (size_t i = 0; i < count; i++)
		below += values[i] < limit;
	return below;
}

int readings_of_wait(const struct series *series, unsigned int number, FILE *out)
{
	int64_t *elapsed_ns = room_for((size_t)series->count);
	struct statistics statistics;
	int64_t began_ns, ended_ns;
	struct json_line line;
	struct cost cost;
	size_t taken;

	if (!elapsed_ns)
		return -ENOMEM;
	cost_begin(&cost);
	began_ns = clock_now_ns();
	taken = take_waits(series, elapsed_ns);
	ended_ns = clock_now_ns();
	line_begin(&line, out, number);
	span_write(began_ns, ended_ns, &line);
	cost_write(&cost, &line);
	json_signed(&line, "early", count_below(elapsed_ns, taken, series->request_ns));
	statistics_fold(elapsed_ns, taken, &statistics);
	line_statistics(&line, &statistics);
	line_end(&line);
	free(elapsed_ns);
	return 0;
}

/* In order of length; where the time is up, what was taken stands. */
int readings_of_sweep(const struct series *series, unsigned int number, FILE *out)
{
	const size_t lengths = (size_t)((series->to_ns - series->from_ns) / series->step_ns) + 1;
	int64_t *elapsed_ns = room_for(lengths);
	const int64_t until_ns = limit_of(series);
	const int64_t began_ns = clock_now_ns();
	int64_t after_ns = began_ns;
	int64_t early = 0;
	struct json_line line;
	size_t taken = 0;

	if (!elapsed_ns)
		return -ENOMEM;
	while (taken < lengths && after_ns < until_ns) {
		const int64_t request_ns = series->from_ns + (int64_t)taken * series->step_ns;
		const int64_t before_ns = clock_now_ns();

		series->wait->wait(request_ns);
		after_ns = clock_now_ns();
		elapsed_ns[taken] = after_ns - before_ns;
		early += elapsed_ns[taken] < request_ns;
		taken++;
	}
	line_begin(&line, out, number);
	span_write(began_ns, after_ns, &line);
	json_signed(&line, "early", early);
	json_list_signed(&line, "elapsed_ns", elapsed_ns, taken);
	line_end(&line);
	free(elapsed_ns);
	return 0;
}

/*
 * A period overruns where the task wakes up only when the next one is due already. None is left
 * out: after an overrun the task is late for the next one, too, until it has caught up.
 */
int readings_of_periods(const struct series *series, unsigned int number, FILE *out)
{
	int64_t *late_ns = room_for((size_t)series->count);
	const int64_t until_ns = limit_of(series);
	struct statistics statistics;
	struct json_line line;
	struct cost cost;
	int64_t began_ns, due_ns, now_ns;
	size_t taken = 0;

	if (!late_ns)
		return -ENOMEM;
	cost_begin(&cost);
	began_ns = clock_now_ns();
	due_ns = began_ns;
	do {
		struct timespec due;

		due_ns += series->request_ns;
		due = clock_timespec(due_ns);
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
			;
		now_ns = clock_now_ns();
		late_ns[taken++] = now_ns - due_ns;
	} while (taken < (size_t)series->count && now_ns < until_ns);
	line_begin(&line, out, number);
	span_write(began_ns, now_ns, &line);
	cost_write(&cost, &line);
	json_signed(&line, "early", count_below(late_ns, taken, 0));
	json_signed(&line, "overruns",
		(int64_t)taken - count_below(late_ns, taken, series->request_ns));
	statistics_fold(late_ns, taken, &statistics);
	line_statistics(&line, &statistics);
	line_end(&line);
	free(late_ns);
	return 0;
}
