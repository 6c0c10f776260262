/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts this process above any subject: nothing it measures may wait for it. */
#ifndef EMULATORS_SERPROG_REALTIME_H
#define EMULATORS_SERPROG_REALTIME_H

/* Runs on CPU @cpu only. Negative errno. */
int realtime_pin(int cpu);

/*
 * SCHED_FIFO at @priority, and every page that exists now or later locked in memory. Call it once
 * all memory of the hot path is allocated: what exists is faulted in here. Negative errno.
 */
int realtime_enable(int priority);

/* Below everything else from now on: what is left to do is nobody's to wait for. Negative errno. */
int realtime_leave(void);

#endif
