/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A time stamp counter of another rate for one process, its threads and its children.
 *
 * QEMU counts instructions, and its counter has 1 GHz whatever CPUID tells. So the kernel refuses
 * RDTSC and RDTSCP to the process (PR_SET_TSC), and another process of ours traces it and answers.
 * The kernel's own reading is not touched, so the guest's clocks keep their rate.
 */
#ifndef AGENT_TSC_H
#define AGENT_TSC_H

#include <sys/types.h>

#define TSC_USUAL_MHZ 1000

/* The two ends of a pipe: the process waits at one until who answers it is there. */
struct tsc_gate {
	int wait;
	int open;
};

/* Before the fork. 0 or a negative errno, as of all here. */
int tsc_prepare(struct tsc_gate *gate);

/* In the process itself: waits, and gives the counter up. */
int tsc_give_up(struct tsc_gate *gate);

/* In its parent: starts who answers `pid`, until that has ended. */
int tsc_serve(struct tsc_gate *gate, pid_t pid, unsigned int mhz);

#endif
