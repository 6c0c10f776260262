/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REALTIME_H
#define REALTIME_H

#include <stdbool.h>

/** The scheduling of a thread as it was found. Embedded by its user; fields belong to realtime.c.
 */
struct realtime {
	int policy; /* with SCHED_RESET_ON_FORK where that was set */
	int priority;
	bool changed;
};

/**
 * Put the calling thread under SCHED_FIFO at its lowest priority: its sleeps then end closer to
 * their deadline. A thread that is under a realtime policy already is left as it is.
 *
 * Children do not inherit it. `found` is filled in any case. 0, -EPERM without CAP_SYS_NICE and
 * RLIMIT_RTPRIO, -ENOSYS where the system has no such policy.
 *
 * For those who own the thread; the delay layer does not call it.
 */
int realtime_acquire(struct realtime *found);

/**
 * Give back what realtime_acquire() has changed, from the same thread. Without CAP_SYS_NICE one
 * thing stays: the mark that children start at normal priority, which Linux lets nobody else take
 * off. 0 or a negative errno.
 */
int realtime_restore(const struct realtime *found);

#endif
