/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin's own thread, which writes the trace, window by window, and takes commands.
 *
 * Commands come through a unix datagram socket, one per datagram. A sender that is bound to an
 * address gets the answer `ok T_NS`, with the time at which the command took effect, or
 * `error TEXT`.
 */
#ifndef EMULATORS_CPU_PLUGIN_SERVICE_H
#define EMULATORS_CPU_PLUGIN_SERVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "options.h"
#include "vcpu.h"

/*
 * Writes the real speeds of the vCPUs to a stream, as JSON lines. Times are arguments.
 * rig/delayrig/model/kinds/pace.py describes the keys.
 */

struct trace_host {
	const char *target;
	int api;
	unsigned int vcpus;
};

void trace_start(
	FILE *out, uint64_t now_ns, const struct trace_host *host, const struct options *options);

void trace_change(FILE *out, unsigned int vcpu, const struct speed_change *change);

/* Writes a vCPU's work since the account @before. Writes nothing if it has not settled since. */
void trace_window(FILE *out, const struct vcpu *vcpu, const struct vcpu_account *before,
	uint64_t late_ns_max);

/*
 * Returns true if the vCPU kept its speed since the account @before: its active time and the time
 * that its instructions should have taken differ by at most 2 % of the span and one quantum.
 */
bool trace_kept(const struct vcpu *vcpu, const struct vcpu_account *before);

struct trace_totals {
	uint64_t windows;
	uint64_t windows_not_kept;
	uint64_t changes_dropped;
};

void trace_end(FILE *out, uint64_t now_ns, const struct trace_totals *totals);

/*
 * A vCPU and its lock. The vCPU's own thread and the service thread use it; neither holds the lock
 * while it waits.
 */
struct core {
	pthread_mutex_t lock;
	struct vcpu vcpu;
	pid_t thread; /* 0: the thread has not begun, or has ended */
};

/*
 * Accounts for @instructions, run since the last call, and waits until the vCPU may continue.
 * Sleeps, but polls the clock for the last @spin_ns. Returns how many instructions the vCPU may run
 * next. Call it in the vCPU's thread.
 */
uint64_t core_settle(struct core *core, uint64_t instructions, uint64_t spin_ns);

/* These two do not wait. core_resume() returns how many instructions the vCPU may run next. */
void core_idle(struct core *core, uint64_t instructions);
uint64_t core_resume(struct core *core);

struct service;

/*
 * Opens the trace and the socket and starts the thread. @cores and @options must outlive it.
 * Returns 0, or a negative errno with the reason in @error (OPTIONS_ERROR_BYTES).
 */
int service_create(struct service **service, struct core *cores, const struct trace_host *host,
	const struct options *options, uint64_t start_ns, char *error);

/* Ends the thread, writes a last window, and closes the trace. */
void service_destroy(struct service *service);

#endif
