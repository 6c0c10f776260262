/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU that two threads look at: its own, and the service thread, which keeps the trace and takes
 * commands. The lock is held for arithmetic only, never over a wait.
 */
#ifndef EMULATORS_CPU_CORE_H
#define EMULATORS_CPU_CORE_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "vcpu.h"

struct core {
	pthread_mutex_t lock;
	struct vcpu vcpu;
	pid_t thread; /* 0: its thread has not begun */
};

/* CLOCK_MONOTONIC, which the emulators beside the guest count on as well. */
uint64_t core_now_ns(void);

/*
 * In the vCPU's thread: it ran @instructions since it last settled. Returns, when it is time to go
 * on, how many it may run next. Sleeps but for the last @spin_ns, which it polls the clock for.
 */
uint64_t core_settle(struct core *core, uint64_t instructions, uint64_t spin_ns);

/* In the vCPU's thread, and without waiting. The latter returns how many it may run. */
void core_idle(struct core *core, uint64_t instructions);
uint64_t core_resume(struct core *core);

#endif
