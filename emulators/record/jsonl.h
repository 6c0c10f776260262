/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes events as JSON lines. The keys and their order are described in
 * rig/docs/reference/events.md.
 */
#ifndef EMULATORS_RECORD_JSONL_H
#define EMULATORS_RECORD_JSONL_H

#include <stdio.h>

#include "events.h"

/* The content of the first line. */
struct run_facts {
	uint64_t start_ns;
	const struct part *part;
	struct corner corner;
	uint64_t seed;
	bool native_delay;
	const char *clock_name;
	uint64_t clock_step_ns; /* the error of one reading */
	uint32_t clock_rate_error_ppm;
	bool wake_measured;
	uint64_t wake_latency_ns_min;
	uint64_t wake_latency_ns_max;
	const char *link;   /* NULL: no link is modelled; contains a-z, digits and ,=- only */
	const char *faults; /* the requested faults, NULL: none; also contains @ : . and blanks */
};

/* The content of the last line besides its counts. */
struct run_end {
	uint64_t end_ns;
	bool clean; /* the clock never ran backwards and no record was lost */
};

/* Writes all lines, from `start` to `end`. Returns 0, or -EIO if the stream fails. */
int jsonl_write(FILE *out, const struct run_facts *facts, const struct events *events,
	const struct run_end *end);

#endif
