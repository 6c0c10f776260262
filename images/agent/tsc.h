/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A time stamp counter of another rate for one process, its threads and its children.
 *
 * Under icount QEMU's counter runs at 1 GHz, whatever CPUID says. To give the process another rate,
 * PR_SET_TSC makes its RDTSC and RDTSCP instructions fault, and a server process traces it and
 * emulates them. The kernel still reads the real counter, so the guest's clocks keep their rate.
 */
#ifndef AGENT_TSC_H
#define AGENT_TSC_H

#include <sys/types.h>

#define TSC_USUAL_MHZ 1000

/* The two ends of a pipe, at which the process waits until its server traces it. */
struct tsc_gate {
	int wait;
	int open;
};

/* Makes the pipe, before the fork. All functions return 0 or a negative errno. */
int tsc_prepare(struct tsc_gate *gate);

/* Waits until the server traces the caller, then makes the caller's RDTSC instructions fault. */
int tsc_give_up(struct tsc_gate *gate);

/* Starts the server of the child `pid`; it ends when the child ends. Call this in the parent. */
int tsc_serve(struct tsc_gate *gate, pid_t pid, unsigned int mhz);

#endif
