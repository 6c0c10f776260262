/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that only count: busy siblings on other cores, hogs on the subject's core. */
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
	bool beside_us;           /* some run on the agent's core, so only while the agent sleeps */
	volatile uint64_t *turns; /* one cache line a loop, shared with it */
};

/*
 * Starts `count` loops, the first on `core`, each next one `stride` cores further, and waits until
 * all of them count. Returns 0, -EINVAL for too few cores or too many loops, -ETIMEDOUT or another
 * negative errno. In any case the caller must call loops_end().
 */
int loops_start(struct loops *loops, unsigned int count, unsigned int core, unsigned int stride);

/* Starts `each` loops on every core, in the same way. */
int loops_start_crowd(struct loops *loops, unsigned int each);

/* Stops the loops, and returns when they have stopped. */
void loops_pause(const struct loops *loops);
void loops_resume(const struct loops *loops);

/* Returns the fewest turns of any loop; 0 if there are no loops. */
uint64_t loops_turns_min(const struct loops *loops);

/* Ends and reaps them all. */
void loops_end(struct loops *loops);

#endif
