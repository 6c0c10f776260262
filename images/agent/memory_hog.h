/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that keeps touching new memory, so that the kernel has to reclaim all the time. */
#ifndef AGENT_MEMORY_HOG_H
#define AGENT_MEMORY_HOG_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Starts it on the subject's core and waits until the kernel reclaims; 0 or a negative errno. */
int memory_hog_start(pid_t *hog);

/* Ends it, where it is not 0. */
void memory_hog_end(pid_t *hog);

/* Pages that were reclaimed so far, from the text of /proc/vmstat. */
uint64_t memory_hog_reclaimed(FILE *vmstat);

/* The same of this guest. */
uint64_t memory_hog_reclaimed_now(void);

#endif
