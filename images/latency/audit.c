// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock.h"
#include "readings.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The median of many small batches is the result, because interrupts disturb only few of them. */
#define BATCHES 101
#define READS 100

static void read_clock(int64_t *readings_ns)
{
	for (size_t i = 0; i < READS; i++)
		readings_ns[i] = clock_now_ns();
}

/* Bypasses the vDSO, to measure the cost of a system call. */
static void ask_kernel(int64_t *readings_ns)
{
	struct timespec now;

	for (size_t i = 0; i < READS; i++) {
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
		readings_ns[i] = now.tv_nsec;
	}
}

/* Runs the same loop as readings.c, around a wait that does nothing. */
static void turn_loop(int64_t *readings_ns)
{
	const struct wait *nothing = wait_find("nop");

	for (size_t i = 0; i < READS; i++) {
		const int64_t before_ns = clock_now_ns();

		nothing->wait(0);
		readings_ns[i] = clock_now_ns() - before_ns;
	}
}

/* Returns the cost of a reading, in picoseconds because fast clocks need less than 20 ns. */
static int64_t median_cost_ps(void (*batch)(int64_t *))
{
	int64_t cost_ps[BATCHES];
	int64_t readings_ns[READS];
	struct statistics statistics;

	for (size_t i = 0; i < BATCHES; i++) {
		const int64_t before_ns = clock_now_ns();

		batch(readings_ns);
		cost_ps[i] = (clock_now_ns() - before_ns) * 1000 / READS;
	}
	statistics_fold(cost_ps, BATCHES, &statistics);
	return statistics.quantile_ns[50];
}

/*
 * Returns the smallest difference above 0 between two successive readings of the clock. A coarse
 * clock may need more readings than usual until it steps.
 */
static int64_t step_ns(void)
{
	int64_t least_ns = INT64_MAX;
	int64_t before_ns = clock_now_ns();

	for (size_t i = 0; i < (size_t)BATCHES * READS || least_ns == INT64_MAX; i++) {
		const int64_t now_ns = clock_now_ns();

		if (now_ns > before_ns && now_ns - before_ns < least_ns)
			least_ns = now_ns - before_ns;
		before_ns = now_ns;
	}
	return least_ns;
}

int audit_write(const struct series *series, struct json_line *line)
{
	(void)series;
	json_signed(line, "clock_read_ps", median_cost_ps(read_clock));
	json_signed(line, "clock_call_ps", median_cost_ps(ask_kernel));
	json_signed(line, "loop_ps", median_cost_ps(turn_loop));
	json_signed(line, "clock_step_ns", step_ns());
	return 0;
}
