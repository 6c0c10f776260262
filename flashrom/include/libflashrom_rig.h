/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Additions of this tree's libflashrom.so.1 to flashrom's interface. */
#ifndef LIBFLASHROM_RIG_H
#define LIBFLASHROM_RIG_H

#include "libflashrom.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Let the thread that calls for a read, write, verification or erase of this chip do so at the
 * lowest SCHED_FIFO priority, whose sleeps end closer to their deadline. Each such call takes it
 * and gives back what it found before it returns; off in the beginning, and then the library never
 * touches scheduling.
 *
 * Without the right to it (CAP_SYS_NICE or RLIMIT_RTPRIO) a call goes on at the priority that it
 * has, after an information in the log. A thread that is under a realtime policy is left as it is.
 * One thing may stay behind where CAP_SYS_NICE is missing: children of the thread then start at
 * normal priority.
 */
void flashrom_rig_set_realtime(struct flashrom_flashctx *flashctx, bool value);

#ifdef __cplusplus
}
#endif

#endif
