/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "realtime.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

/* More stack than the deepest call takes. */
#define STACK_BYTES (64 * 1024)

int realtime_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
}

/* The stack grows by faults: take them now. */
static void prefault_stack(void)
{
	volatile char stack[STACK_BYTES];

	for (size_t i = 0; i < sizeof(stack); i += 1024)
		stack[i] = 0;
}

/*
 * Pages stay once they are used. Those of a whole part and of all events that may come are 50 MB,
 * which a slow guest would spend a second on, for the few that a job touches.
 */
static int lock_memory(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0)
		return 0;
	return mlockall(MCL_CURRENT | MCL_FUTURE) < 0 ? -errno : 0; /* before Linux 4.4 */
}

int realtime_enable(int priority)
{
	struct sched_param param = {.sched_priority = priority};
	int error = lock_memory();

	if (error < 0)
		return error;
	prefault_stack();
	return sched_setscheduler(0, SCHED_FIFO, &param) < 0 ? -errno : 0;
}

int realtime_leave(void)
{
	const struct sched_param param = {.sched_priority = 0};

	return sched_setscheduler(0, SCHED_IDLE, &param) < 0 ? -errno : 0;
}
