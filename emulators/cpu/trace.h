/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the vCPUs were really given, as JSON lines. The keys and their order are described in
 * rig/docs/reference/events.md. Writes to a stream; the moments are arguments.
 */
#ifndef EMULATORS_CPU_TRACE_H
#define EMULATORS_CPU_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"
#include "vcpu.h"

struct trace_host {
	const char *target;
	int api;
	unsigned int vcpus;
};

void trace_start(
	FILE *out, uint64_t now_ns, const struct trace_host *host, const struct options *options);

void trace_change(FILE *out, unsigned int vcpu, const struct speed_change *change);

/* What a vCPU was given between two accounts; nothing is written where no time was settled. */
void trace_window(FILE *out, const struct vcpu *vcpu, const struct vcpu_account *before,
	uint64_t late_ns_max);

/*
 * Whether the vCPU kept to its speed between two accounts: it had at most 2 % of the time too
 * little, since the host was late, or too much, since it caught up; besides what a quantum blurs.
 */
bool trace_kept(const struct vcpu *vcpu, const struct vcpu_account *before);

struct trace_totals {
	uint64_t windows;
	uint64_t windows_not_kept;
	uint64_t changes_dropped;
};

void trace_end(FILE *out, uint64_t now_ns, const struct trace_totals *totals);

#endif
