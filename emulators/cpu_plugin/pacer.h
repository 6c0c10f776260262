/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a vCPU may go on, so that the instructions it has run took the time they should. Pure: the
 * moments and what the instructions cost are arguments.
 *
 * `due_ns` is when a vCPU of exactly the right speed would be where this one is. One that is ahead
 * waits for it. One that the host held up may be faster than it should for a while, by a quarter at
 * most, until it has caught up; what lies further back than `catch_up_ns` is given up and counted.
 */
#ifndef EMULATORS_CPU_PACER_H
#define EMULATORS_CPU_PACER_H

#include <stdint.h>

struct pacer {
	uint64_t catch_up_ns; /* a host may be late by this much before time counts as lost */
	uint64_t grace_ns;    /* so late a wake-up is no reason to hold back */
	uint64_t due_ns;
	uint64_t wanted_ns;   /* when it should have gone on last */
	uint64_t released_ns; /* when it did */
	uint64_t ahead_ns;    /* the time that it owed when it became idle */
	uint64_t behind_ns;   /* and what it is owed */
	uint64_t lost_ns; /* since the beginning: time that it should have run in, and did not */
	uint64_t late_ns_max; /* since it was last taken: how far behind it was */
};

void pacer_init(struct pacer *pacer, uint64_t now_ns, uint64_t catch_up_ns, uint64_t grace_ns);

/* From here on as if nothing had been run before: the speed was another, or none. */
void pacer_restart(struct pacer *pacer, uint64_t now_ns);

/* At @now_ns it has run what should take @cost_ns. Returns when it may go on, @now_ns for at once.
 */
uint64_t pacer_advance(struct pacer *pacer, uint64_t now_ns, uint64_t cost_ns);

/* It goes on; what pacer_advance() said was waited for. */
void pacer_release(struct pacer *pacer, uint64_t now_ns);

/*
 * It has nothing to do, and has something again. Idle time pays for nothing: what it ran too early
 * it owes when it is back, and of what it was late by no more than the grace is made up for.
 */
void pacer_idle(struct pacer *pacer, uint64_t now_ns, uint64_t cost_ns);
void pacer_resume(struct pacer *pacer, uint64_t now_ns);

/* Returns the largest lateness since the last call. */
uint64_t pacer_take_late_ns(struct pacer *pacer);

#endif
