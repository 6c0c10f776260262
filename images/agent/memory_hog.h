/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that keeps touching new memory, so that the kernel must always reclaim some. */
#ifndef AGENT_MEMORY_HOG_H
#define AGENT_MEMORY_HOG_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Starts the hog on the subject's core, waits until the kernel reclaims. 0 or a negative errno. */
int memory_hog_start(pid_t *hog);

/* Ends the process, unless it is 0. */
void memory_hog_end(pid_t *hog);

/* Returns the pages that were reclaimed so far, from the text of /proc/vmstat. */
uint64_t memory_hog_reclaimed(FILE *vmstat);

/* Returns that number for this guest; 0 if it cannot be read. */
uint64_t memory_hog_reclaimed_now(void);

#endif
