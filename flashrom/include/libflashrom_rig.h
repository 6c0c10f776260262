/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Additions of this tree's libflashrom.so.1 to flashrom's interface. */
#ifndef LIBFLASHROM_RIG_H
#define LIBFLASHROM_RIG_H

#include "libflashrom.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Makes each read, write, verification and erase of this chip run at the lowest SCHED_FIFO
 * priority, where sleeps end closer to their deadline. Each call changes the calling thread and
 * restores it at its end. At first this is off, and the library does not touch scheduling.
 *
 * Without the right to it (CAP_SYS_NICE or RLIMIT_RTPRIO) a call keeps its priority, and logs that.
 * A thread under a realtime policy is left as it is. Without CAP_SYS_NICE one change stays:
 * children of the thread then start at normal priority.
 */
void flashrom_rig_set_realtime(struct flashrom_flashctx *flashctx, bool value);

#ifdef __cplusplus
}
#endif

#endif
