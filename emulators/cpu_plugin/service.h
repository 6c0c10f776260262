/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin's own thread: writes the trace, a window at a time, and takes commands.
 *
 * Commands come to a unix datagram socket, one a datagram. A sender with an address of its own is
 * answered `ok T_NS`, the moment of the change, or `error TEXT`.
 */
#ifndef EMULATORS_CPU_SERVICE_H
#define EMULATORS_CPU_SERVICE_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "options.h"
#include "trace.h"
#include "vcpu.h"

/*
 * A vCPU that two threads look at: its own, and the service thread, which keeps the trace and takes
 * commands. The lock is held for arithmetic only, never over a wait.
 */
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

struct service;

/*
 * Opens what the options name and starts the thread; @cores and @options must stay. On failure
 * negative errno, and @error (OPTIONS_ERROR_BYTES) says which file it is.
 */
int service_create(struct service **service, struct core *cores, const struct trace_host *host,
	const struct options *options, uint64_t start_ns, char *error);

/* Ends the thread, and the trace with a last window. */
void service_destroy(struct service *service);

#endif
