/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A subject that gets less than it asks for, and one that finds a machine long awake. */
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

/* For this process and all that it starts. Threads are root's right to refuse. Negative errno. */
int scarcity_begin(const struct scarcity *scarcity);

/*
 * Sets the monotonic clock, and that of the time since boot, to @uptime_ns for the processes that
 * the caller forks from here on. Returns a descriptor for uptime_end(), or a negative errno.
 */
int uptime_begin(uint64_t uptime_ns);

/* Gives the machine's clocks to what is forked from here on. Returns 0 or a negative errno. */
int uptime_end(int descriptor);

#endif
