// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest has neither swap nor disk, so the kernel can reclaim only memory that was given back with
 * MADV_FREE. The hog touches an area of one and a half times the free memory, chunk by chunk and
 * again from the start. It keeps the last HELD_CHUNKS chunks, and gives the others back.
 *
 * Sources: madvise(2), proc(5).
 */
#include "hazards.h"
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)4 << 20)
#define PAGE_BYTES ((size_t)4096)
#define HELD_CHUNKS 4
#define LOOK_MS 10
#define LOOKS_MAX 6000

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
	for (unsigned int looks = 0; looks < LOOKS_MAX; looks++) {
		process_sleep_ms(LOOK_MS);
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
