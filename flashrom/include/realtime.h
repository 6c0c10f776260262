/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REALTIME_H
#define REALTIME_H

#include <stdbool.h>

/** The scheduling of a thread as it was found. Only realtime.c uses the fields. */
struct realtime {
	int policy; /* with SCHED_RESET_ON_FORK if that was set */
	int priority;
	bool changed;
};

/**
 * Puts the calling thread under SCHED_FIFO at its lowest priority: its sleeps then end closer to
 * their deadline. A thread that is under a realtime policy already is left as it is. Children do
 * not inherit the priority. Only the owner of a thread may do this, so the delay layer does not.
 *
 * Always fills `found`. Returns 0, -EPERM with neither CAP_SYS_NICE nor RLIMIT_RTPRIO, -ENOSYS if
 * the system has no such policy.
 */
int realtime_acquire(struct realtime *found);

/**
 * Undoes realtime_acquire(), in the same thread. Without CAP_SYS_NICE Linux does not let the thread
 * clear SCHED_RESET_ON_FORK: its children then start at normal priority. Returns 0 or -errno.
 */
int realtime_restore(const struct realtime *found);

#endif
