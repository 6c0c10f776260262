/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One series of readings, as a word of the command line asks for it: `KIND` or
 * `KIND:KEY=VALUE,KEY=VALUE...`.
 *
 *   facts     what the kernel says of its timers
 *   audit     what a reading costs by itself
 *   wait      a wait of one length, again and again
 *   sweep     a wait of each length from `from_ns` to `to_ns`, once
 *   periods   a task that is due every `request_ns`: how late it wakes up
 *   ticks     timer interrupts of a CPU while it idles, and while one task computes, `request_ns`
 *
 *   wait=NAME        of waits.c
 *   request_ns=N     what is asked for
 *   from_ns=N, to_ns=N, step_ns=N
 *   count=N          how often
 *   limit_ms=N       no longer than that, whatever the count
 *   fifo=N           at SCHED_FIFO with that priority; 0 means normal
 *   slack_ns=N       timer slack of the thread; 0 leaves it as it is
 *   cpu=N            on that CPU alone; left out: wherever the kernel likes
 *   eaters=N         beside that many loops on each CPU that this process may use, or on `cpu`
 *                    alone where that is none of them
 *   hold_us=N        with that much in /dev/cpu_dma_latency; left out: nothing is held
 */
#ifndef LATENCY_SERIES_H
#define LATENCY_SERIES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A way of waiting that is measured, by the name of the system's own function. */
struct wait {
	const char *name;
	/* Waits that long, as the function that it is named after does when asked for it once. */
	void (*wait)(int64_t request_ns);
};

/* The wait of that name; NULL where there is none. */
const struct wait *wait_find(const char *name);

#define SERIES_COUNT_MAX 1000000
#define SERIES_EATERS_MAX 64

enum series_kind {
	SERIES_FACTS,
	SERIES_AUDIT,
	SERIES_WAIT,
	SERIES_SWEEP,
	SERIES_PERIODS,
	SERIES_TICKS,
};

struct series {
	enum series_kind kind;
	const struct wait *wait;
	int64_t request_ns;
	int64_t from_ns;
	int64_t to_ns;
	int64_t step_ns;
	int64_t count;
	int64_t limit_ms;
	int64_t fifo_priority;
	int64_t slack_ns;
	int64_t cpu; /* -1: any */
	int64_t eaters;
	int64_t hold_us; /* -1: nothing is held */
};

/*
 * Reads one word, in place. 0, or -EINVAL for a word that makes no sense or asks for what could
 * not end: it lacks what its kind needs.
 */
int series_parse(char *word, struct series *out);

/*
 * How a process measures: priority, CPU, timer slack, the wake-up latency that it holds the machine
 * to, and CPU eaters beside it, which do nothing but turn. All of it ends with the process: nothing
 * is left changed.
 *
 * 0, or -errno with the name of the call that was refused in `refused`.
 */
int scheduling_apply(const struct series *series, const char **refused);

#define EATERS_MAX 4096

struct eaters {
	pid_t pid[EATERS_MAX];
	size_t count;
};

/*
 * Starts `each` on every CPU that this process may use, at normal priority; on `wanted` alone where
 * that is none of those. 0 or -errno.
 */
int eaters_start(struct eaters *eaters, int64_t each, int64_t wanted);

/* They are gone when this returns. */
void eaters_end(struct eaters *eaters);

#endif
