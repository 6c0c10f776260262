// SPDX-License-Identifier: GPL-2.0-or-later
#include "hazards.h"
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS_STRIDE ((size_t)8) /* a cache line, in uint64_t */
#define LOOKS_MAX 10000

static bool all_turned(const struct loops *loops, const uint64_t *before)
{
	for (size_t i = 0; i < loops->count; i++)
		if (loops->turns[i * TURNS_STRIDE] == before[i])
			return false;
	return true;
}

static int wait_until_turning(const struct loops *loops)
{
	uint64_t before[LOOPS_MAX];

	for (size_t i = 0; i < loops->count; i++)
		before[i] = loops->turns[i * TURNS_STRIDE];
	for (unsigned int looks = 0; looks < LOOKS_MAX; looks++) {
		process_sleep_ms(1);
		if (all_turned(loops, before))
			return 0;
	}
	return -ETIMEDOUT;
}

static int start_one(struct loops *loops, unsigned int core)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		process_become_ordinary(core);
		for (;;)
			loops->turns[loops->count * TURNS_STRIDE]++;
	}
	loops->pid[loops->count++] = pid;
	return 0;
}

static int start_all(struct loops *loops, unsigned int count, unsigned int core,
	unsigned int stride, unsigned int cores)
{
	int error = 0;

	loops->beside_us = core == PROCESS_CORE_OF_SUBJECT;
	loops->turns = mmap(NULL, LOOPS_MAX * TURNS_STRIDE * sizeof(uint64_t),
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (loops->turns == MAP_FAILED)
		return -errno;
	for (unsigned int i = 0; i < count && !error; i++)
		error = start_one(loops, (core + i * stride) % cores);
	return error ? error : wait_until_turning(loops);
}

int loops_start(struct loops *loops, unsigned int count, unsigned int core, unsigned int stride)
{
	unsigned int cores = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);

	*loops = (struct loops){0};
	if (count == 0)
		return 0;
	if (count > LOOPS_MAX || core + (count - 1) * stride >= cores)
		return -EINVAL;
	return start_all(loops, count, core, stride, cores);
}

int loops_start_crowd(struct loops *loops, unsigned int each)
{
	unsigned int cores = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);

	*loops = (struct loops){0};
	if (each * cores > LOOPS_MAX)
		return -EINVAL;
	return each ? start_all(loops, each * cores, 0, 1, cores) : 0;
}

static void signal_all(const struct loops *loops, int signal)
{
	for (size_t i = 0; i < loops->count; i++)
		kill(loops->pid[i], signal);
}

/*
 * Waits until all loops have stopped or ended. If none runs on the agent's core, the agent polls,
 * which keeps the subject on that core from running meanwhile. Otherwise waitpid() blocks, because
 * a loop on that core can stop only while the agent sleeps.
 */
static void await_all(const struct loops *loops, int options)
{
	if (!loops->beside_us)
		options |= WNOHANG;
	for (size_t i = 0; i < loops->count; i++)
		while (waitpid(loops->pid[i], NULL, options) == 0)
			continue;
}

void loops_pause(const struct loops *loops)
{
	signal_all(loops, SIGSTOP);
	await_all(loops, WUNTRACED);
}

void loops_resume(const struct loops *loops)
{
	signal_all(loops, SIGCONT);
}

uint64_t loops_turns_min(const struct loops *loops)
{
	uint64_t least = loops->count ? UINT64_MAX : 0;

	for (size_t i = 0; i < loops->count; i++)
		if (loops->turns[i * TURNS_STRIDE] < least)
			least = loops->turns[i * TURNS_STRIDE];
	return least;
}

void loops_end(struct loops *loops)
{
	signal_all(loops, SIGKILL);
	await_all(loops, 0);
	loops->count = 0;
}
