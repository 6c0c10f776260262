/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that keeps touching new memory, so that the kernel has to reclaim all the time. */
#ifndef AGENT_MEMORY_HOG_H
#define AGENT_MEMORY_HOG_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct memory_hog {
	pid_t pid; /* 0 where there is none */
};

/* Starts it on the subject's core and waits until the kernel reclaims; 0 or a negative errno. */
int memory_hog_start(struct memory_hog *hog);

/* Ends it, where there is one. */
void memory_hog_end(struct memory_hog *hog);

/* Pages that were reclaimed so far, from the text of /proc/vmstat. */
uint64_t memory_hog_reclaimed(FILE *vmstat);

/* The same of this guest. */
uint64_t memory_hog_reclaimed_now(void);

#endif
