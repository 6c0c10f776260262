/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Process 1 of a guest that measures how fast its CPUs are. Each CPU in turn does the same work,
 * round after round, and writes a line to the console: `round R cpu C ns N`. Then it writes `done`
 * and powers off.
 *
 * The kernel puts the words of its command line that it does not know into the environment:
 * `work=N` (thousands of loops), `rounds=N`, `together=1` (all CPUs at once), `sleep_us=N` (idle
 * after each thousand loops).
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
#define LOOPS_AT_A_TIME 1000

struct job {
	long work;
	long rounds;
	long together;
	long sleep_us;
};

static long number(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : otherwise;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Walks a table with a jump that depends on data, so that blocks are as short as in real programs.
 */
static uint32_t loop_a_while(uint32_t state)
{
	static uint32_t table[256];

	for (int i = 0; i < LOOPS_AT_A_TIME; i++) {
		state = state * 1664525u + 1013904223u;
		if (state & 0x8000u)
			table[state >> 24] += state;
		else
			state ^= table[state >> 24];
	}
	return state;
}

static uint64_t timed_work(const struct job *job, int cpu)
{
	volatile uint32_t state = 1;
	uint64_t begun_ns;

	pin(cpu);
	loop_a_while(state); /* QEMU translates the code, and the process moves to its CPU */
	begun_ns = now_ns();
	for (long i = 0; i < job->work; i++) {
		state = loop_a_while(state);
		if (job->sleep_us > 0)
			usleep((useconds_t)job->sleep_us);
	}
	return now_ns() - begun_ns;
}

static void measure(const struct job *job, int round, int cpu)
{
	uint64_t ns = timed_work(job, cpu);
	char line[80];
	int len = snprintf(line, sizeof(line), "round %d cpu %d ns %llu\n", round, cpu,
		(unsigned long long)ns);

	if (write(STDOUT_FILENO, line, (size_t)len) < 0)
		_exit(EXIT_FAILURE);
}

static void start(const struct job *job, int round, int cpu)
{
	if (fork() == 0) {
		measure(job, round, cpu);
		_exit(EXIT_SUCCESS);
	}
}

static void run_round(const struct job *job, int round, int cpus)
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		if (job->together)
			start(job, round, cpu);
		else
			measure(job, round, cpu);
	}
	while (job->together && wait(NULL) > 0)
		;
}

int main(void)
{
	const struct job job = {
		.work = number("work", 1000),
		.rounds = number("rounds", 3),
		.together = number("together", 0),
		.sleep_us = number("sleep_us", 0),
	};
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int round = 0; round < job.rounds; round++)
		run_round(&job, round, cpus);
	printf("done\n");
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 1;
}
