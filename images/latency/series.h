/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One series of readings, as a word of the command line: `KIND` or `KIND:KEY=VALUE,KEY=VALUE...`.
 *
 *   facts     what the kernel says about its timers
 *   audit     the cost of a reading
 *   wait      waits of one length, repeated
 *   sweep     one wait of each length from `from_ns` to `to_ns`
 *   periods   how late a task wakes up that is due every `request_ns`
 *   ticks     timer interrupts of a CPU that idles, and then computes, for `request_ns` each
 *
 *   wait=NAME        a wait of waits.c
 *   request_ns=N     the requested time
 *   from_ns=N, to_ns=N, step_ns=N
 *   count=N          the number of readings
 *   limit_ms=N       the time after which the series ends before its count
 *   fifo=N           the priority of SCHED_FIFO; 0 means normal scheduling
 *   slack_ns=N       timer slack of the thread; 0 leaves it unchanged
 *   cpu=N            the only CPU to use; left out: any
 *   eaters=N         loops on each CPU that this process may use; only on `cpu` if that is not one
 *                    of them
 *   hold_us=N        the latency to request in /dev/cpu_dma_latency; left out: none
 */
#ifndef LATENCY_SERIES_H
#define LATENCY_SERIES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A wait to measure: a function of the system, with its name. */
struct wait {
	const char *name;
	/* Calls that function once. */
	void (*wait)(int64_t request_ns);
};

/* Returns the wait of that name, or NULL. */
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

/* Parses one word. Returns 0, or -EINVAL for a wrong word, or one without the keys that it needs.
 */
int series_parse(const char *text, struct series *out);

/*
 * Sets the process's CPU, timer slack, request for wake-up latency, and priority. All of them end
 * with the process. Returns 0, or a negative errno with the name of the refused call in `refused`.
 */
int scheduling_apply(const struct series *series, const char **refused);

#define EATERS_MAX 4096

/* CPU eaters: processes that only count. They end with their parent. */
struct eaters {
	pid_t pid[EATERS_MAX];
	size_t count;
};

/*
 * Starts `each` eaters at normal priority on every CPU that this process may use, or only on
 * `wanted` if that is a CPU that it may not use. Returns 0 or a negative errno. Call eaters_end()
 * even after an error.
 */
int eaters_start(struct eaters *eaters, int64_t each, int64_t wanted);

/* Ends and reaps all eaters. */
void eaters_end(struct eaters *eaters);

#endif
