/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides when a vCPU may continue, so that its instructions take the time that they should. Pure:
 * moments and the cost of instructions are arguments.
 *
 * `due_ns` is when a vCPU of exactly the right speed would have run the same instructions. A vCPU
 * that is ahead waits until then. A vCPU that the host delayed runs up to a quarter faster until it
 * has caught up; a delay beyond `catch_up_ns` is not caught up, but counted as lost.
 */
#ifndef EMULATORS_CPU_PACER_H
#define EMULATORS_CPU_PACER_H

#include <stdint.h>

struct pacer {
	uint64_t catch_up_ns; /* the largest delay that is caught up */
	uint64_t grace_ns;    /* the lateness of a wake-up that does not count against the vCPU */
	uint64_t due_ns;
	uint64_t wanted_ns;   /* when the last wait should have ended */
	uint64_t released_ns; /* when it ended */
	int64_t ahead_ns;     /* the time that it was ahead when it became idle; negative: behind */
	uint64_t lost_ns;     /* the sum of delays that were given up, since pacer_init() */
	uint64_t late_ns_max; /* the largest delay since pacer_take_late_ns() */
};

void pacer_init(struct pacer *pacer, uint64_t now_ns, uint64_t catch_up_ns, uint64_t grace_ns);

/* Forgets what was run before @now_ns; for a vCPU that was not paced until then. */
void pacer_restart(struct pacer *pacer, uint64_t now_ns);

/*
 * Accounts for instructions that should take @cost_ns and are done at @now_ns. Returns when the
 * vCPU may continue; @now_ns means at once.
 */
uint64_t pacer_advance(struct pacer *pacer, uint64_t now_ns, uint64_t cost_ns);

/* Notes that the wait for the moment that pacer_advance() returned has ended at @now_ns. */
void pacer_release(struct pacer *pacer, uint64_t now_ns);

/*
 * The vCPU becomes idle, and busy again. Idle time counts for nothing: a vCPU that was ahead must
 * still wait as long afterwards, and one that was behind catches up at most the grace.
 */
void pacer_idle(struct pacer *pacer, uint64_t now_ns, uint64_t cost_ns);
void pacer_resume(struct pacer *pacer, uint64_t now_ns);

/* Returns the largest lateness since the last call. */
uint64_t pacer_take_late_ns(struct pacer *pacer);

#endif
