/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that do nothing but count: busy siblings on other cores, hogs on the subject's own. */
#ifndef AGENT_LOOPS_H
#define AGENT_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LOOPS_MAX 64

struct loops {
	pid_t pid[LOOPS_MAX];
	size_t count;
	bool beside_us; /* on the agent's own core, so that it has to sleep for them to go on */
	volatile uint64_t *turns; /* one cache line a loop, shared with it */
};

/*
 * Starts `count` loops, the first on `core`, each next one `stride` cores further, and waits until
 * all are seen to turn. Returns 0, -EINVAL where there are no such cores, -ETIMEDOUT or what
 * fork() gave; the caller ends what was started.
 */
int loops_start(struct loops *loops, unsigned int count, unsigned int core, unsigned int stride);

/* The same: `each` on every core. */
int loops_start_crowd(struct loops *loops, unsigned int each);

/* Stops them where they are, and returns when they stand. */
void loops_pause(const struct loops *loops);
void loops_resume(const struct loops *loops);

/* The fewest turns that any of them has done; 0 where there are none. */
uint64_t loops_turns_min(const struct loops *loops);

/* Ends and reaps them all. */
void loops_end(struct loops *loops);

#endif
