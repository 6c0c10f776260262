/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the cost of sleeping on a machine: how late plain sleeps of some lengths end at normal
 * priority, with a timer slack of 1 ns, and under SCHED_FIFO; and how long a switch to another
 * process takes. Prints one JSON object on stdout.
 *
 * The rig runs it instead of a flashrom, with the same arguments, which it ignores. It does not
 * open the programmer.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "realtime.h"
#include "waits.h"

#define TRIES 48
#define NS_PER_US INT64_C(1000)
#define NS_PER_S INT64_C(1000000000)

/* The rig searches a subject for the name of its chip. This program does not use the name. */
__attribute__((used)) static const char part_name[] = "\0W25Q128.V";

static const unsigned int lengths_us[] = {1, 2, 10, 50, 100, 500, 1000, 10000};
#define LENGTH_COUNT (sizeof(lengths_us) / sizeof(lengths_us[0]))

static int compare(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *)left;
	const int64_t b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static void sleep_us(unsigned int us)
{
	const struct timespec length = {us / 1000000, (long)(us % 1000000) * 1000};

	nanosleep(&length, NULL);
}

/* Measures by how much each of TRIES sleeps exceeded `us`, and sorts the results. */
static void measure_sleeps(unsigned int us, int64_t late_ns[TRIES])
{
	for (int i = 0; i < TRIES; i++) {
		const int64_t start_ns = bench_now_ns();

		sleep_us(us);
		late_ns[i] = bench_now_ns() - start_ns - us * NS_PER_US;
	}
	qsort(late_ns, TRIES, sizeof(*late_ns), compare);
}

/* If `first` is true, no comma comes before the first row. */
static void print_sleeps(const char *way, bool first)
{
	int64_t late_ns[TRIES];

	for (size_t l = 0; l < LENGTH_COUNT; l++) {
		int64_t sum_ns = 0;

		measure_sleeps(lengths_us[l], late_ns);
		for (int i = 0; i < TRIES; i++)
			sum_ns += late_ns[i];
		printf("%s\n  {\"way\": \"%s\", \"length_us\": %u, \"late_ns_min\": %lld, "
		       "\"late_ns_p50\": %lld, \"late_ns_mean\": %lld, \"late_ns_max\": %lld}",
			first ? "" : ",", way, lengths_us[l], (long long)late_ns[0],
			(long long)late_ns[TRIES / 2], (long long)(sum_ns / TRIES),
			(long long)late_ns[TRIES - 1]);
		first = false;
	}
}

/* Sends each byte back. On one CPU, a byte and its return take two process switches. */
static void answer_all(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			break;
	_exit(0);
}

static int64_t median_switch_ns(int to, int from)
{
	int64_t took_ns[TRIES];
	char byte = 0;

	for (int i = 0; i < TRIES; i++) {
		const int64_t start_ns = bench_now_ns();

		if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
			return -1;
		took_ns[i] = (bench_now_ns() - start_ns) / 2;
	}
	qsort(took_ns, TRIES, sizeof(*took_ns), compare);
	return took_ns[TRIES / 2];
}

static void keep_to_one_cpu(cpu_set_t *before)
{
	cpu_set_t one;

	sched_getaffinity(0, sizeof(*before), before);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, before)) {
			CPU_SET(cpu, &one);
			break;
		}
	}
	sched_setaffinity(0, sizeof(one), &one);
}

/* Returns -1 if it cannot be measured. */
static int64_t measure_switch_ns(void)
{
	int there[2];
	int back[2];
	cpu_set_t before;
	int64_t result;
	pid_t child;

	if (pipe(there) != 0)
		return -1;
	if (pipe(back) != 0) {
		close(there[0]);
		close(there[1]);
		return -1;
	}
	keep_to_one_cpu(&before);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		close(there[1]);
		close(back[0]);
		answer_all(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	result = child < 0 ? -1 : median_switch_ns(there[1], back[0]);
	close(there[1]);
	close(back[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	sched_setaffinity(0, sizeof(before), &before);
	return result;
}

static int64_t measure_yield_ns(void)
{
	const int64_t start_ns = bench_now_ns();

	for (int i = 0; i < TRIES; i++)
		sched_yield();
	return (bench_now_ns() - start_ns) / TRIES;
}

static int64_t resolution_ns(void)
{
	struct timespec resolution = {0, 0};

	clock_getres(CLOCK_MONOTONIC, &resolution);
	return resolution.tv_sec * NS_PER_S + resolution.tv_nsec;
}

int main(void)
{
	const int slack_ns = prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L);
	struct realtime found;

	printf("{\"schema\": 1, \"tries\": %d, \"slack_ns\": %d, \"resolution_ns\": %lld, "
	       "\"yield_ns\": %lld, \"switch_ns\": %lld, \"sleeps\": [",
		TRIES, slack_ns, (long long)resolution_ns(), (long long)measure_yield_ns(),
		(long long)measure_switch_ns());
	print_sleeps("normal", true);
	prctl(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
	print_sleeps("slack", false);
	prctl(PR_SET_TIMERSLACK, (long)slack_ns, 0L, 0L, 0L);
	if (realtime_acquire(&found) == 0) {
		print_sleeps("fifo", false);
		realtime_restore(&found);
	}
	printf("\n]}\n");
	return EXIT_SUCCESS;
}
