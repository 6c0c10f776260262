/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the real speeds of the vCPUs to a stream, as JSON lines. The moments are arguments.
 * rig/delayrig/model/kinds/pace.py describes the keys.
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

/* Writes a vCPU's work since the account @before, unless no time was settled since. */
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

#endif
