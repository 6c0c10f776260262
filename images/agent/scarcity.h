/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits of a subject, and another uptime for it. */
#ifndef AGENT_SCARCITY_H
#define AGENT_SCARCITY_H

#include <stdbool.h>
#include <stdint.h>

/* The most that each subject may have; 0: no limit. */
struct scarcity {
	unsigned int descriptors;
	unsigned int memory_mib; /* the address space of each process */
	bool no_threads;
};

/*
 * Limits the calling process and all that it starts. To refuse threads the caller must be root.
 * Returns 0 or a negative errno.
 */
int scarcity_begin(const struct scarcity *scarcity);

/*
 * Sets CLOCK_MONOTONIC and CLOCK_BOOTTIME to @uptime_ns for the processes that the caller forks
 * from now on. Returns a descriptor for uptime_end(), or a negative errno.
 */
int uptime_begin(uint64_t uptime_ns);

/* Gives processes that are forked from now on the machine's clocks. Returns 0 or -errno. */
int uptime_end(int descriptor);

#endif
