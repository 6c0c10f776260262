/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that disturb a subject: loops, one that needs memory, and one that stops it. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hazards.h"
#include "process.h"

#define TURNS_STRIDE ((size_t)8) /* uint64_t a cache line */
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
 * Waits until all loops have stopped or ended. Polls, so that the agent keeps its core and the
 * subject cannot run before. But loops on that core can stop only while the agent sleeps.
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

/*
 * A guest has neither swap nor disk, so the kernel can reclaim only memory that was given back with
 * MADV_FREE. The hog walks in a circle through more memory than the guest has, holds HELD_CHUNKS at
 * a time, and gives the rest back.
 *
 * Sources: madvise(2), proc(5).
 */
#define CHUNK_BYTES ((size_t)4 << 20)
#define PAGE_BYTES ((size_t)4096)
#define HELD_CHUNKS 4
#define HOG_LOOK_MS 10
#define HOG_LOOKS_MAX 6000

static void touch(volatile char *chunk)
{
	for (size_t at = 0; at < CHUNK_BYTES; at += PAGE_BYTES)
		chunk[at]++;
}

static size_t chunks_in_circle(void)
{
	struct sysinfo info;

	if (sysinfo(&info) < 0)
		return 0;
	return (size_t)(info.freeram * info.mem_unit / CHUNK_BYTES) * 3 / 2;
}

static void __attribute__((noreturn)) walk(char *memory, size_t chunks)
{
	for (size_t turn = 0;; turn++) {
		char *given_back = memory + (turn + chunks - HELD_CHUNKS) % chunks * CHUNK_BYTES;

		touch(memory + turn % chunks * CHUNK_BYTES);
		if (turn >= HELD_CHUNKS)
			madvise(given_back, CHUNK_BYTES, MADV_FREE);
	}
}

static void __attribute__((noreturn)) run_hog(void)
{
	size_t chunks = chunks_in_circle();
	char *memory;

	process_become_ordinary(PROCESS_CORE_OF_SUBJECT);
	if (chunks <= HELD_CHUNKS)
		_exit(1);
	memory = mmap(NULL, chunks * CHUNK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		_exit(1);
	madvise(memory, chunks * CHUNK_BYTES, MADV_NOHUGEPAGE);
	walk(memory, chunks);
}

uint64_t memory_hog_reclaimed(FILE *vmstat)
{
	static const char *const counters[] = {"pgsteal_kswapd ", "pgsteal_direct "};
	uint64_t reclaimed = 0;
	char line[128];

	while (fgets(line, sizeof(line), vmstat))
		for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
			if (strncmp(line, counters[i], strlen(counters[i])) == 0)
				reclaimed += strtoull(line + strlen(counters[i]), NULL, 10);
	return reclaimed;
}

uint64_t memory_hog_reclaimed_now(void)
{
	FILE *vmstat = fopen("/proc/vmstat", "re");
	uint64_t reclaimed;

	if (!vmstat)
		return 0;
	reclaimed = memory_hog_reclaimed(vmstat);
	fclose(vmstat);
	return reclaimed;
}

int memory_hog_start(pid_t *hog)
{
	uint64_t before = memory_hog_reclaimed_now();

	*hog = fork();
	if (*hog < 0)
		return -errno;
	if (*hog == 0)
		run_hog();
	for (unsigned int looks = 0; looks < HOG_LOOKS_MAX; looks++) {
		process_sleep_ms(HOG_LOOK_MS);
		if (memory_hog_reclaimed_now() > before)
			return 0;
	}
	return -ETIMEDOUT;
}

void memory_hog_end(pid_t *hog)
{
	if (*hog <= 0)
		return;
	kill(*hog, SIGKILL);
	waitpid(*hog, NULL, 0);
	*hog = 0;
}

#define NS_PER_S 1000000000u

/* Stops and continues the subject. Has the priority of the agent, so no subject delays it. */
static void __attribute__((noreturn)) stop_and_go(
	pid_t subject, unsigned int hz, volatile uint64_t *count)
{
	const struct timespec half = {0, NS_PER_S / 2 / hz};

	for (;;) {
		nanosleep(&half, NULL);
		if (kill(subject, SIGSTOP) == 0)
			(*count)++;
		nanosleep(&half, NULL);
		kill(subject, SIGCONT);
	}
}

int stops_start(struct stops *stops, pid_t subject, unsigned int hz)
{
	*stops = (struct stops){0};
	if (hz == 0)
		return 0;
	stops->count = mmap(NULL, sizeof(*stops->count), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stops->count == MAP_FAILED)
		return -errno;
	stops->pid = fork();
	if (stops->pid < 0)
		return -errno;
	if (stops->pid == 0)
		stop_and_go(subject, hz, stops->count);
	return 0;
}

uint64_t stops_end(struct stops *stops)
{
	if (stops->pid <= 0)
		return 0;
	kill(stops->pid, SIGKILL);
	waitpid(stops->pid, NULL, 0);
	stops->pid = 0;
	return *stops->count;
}
