/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's actions on a subject: load, clocks, rights, cores, before it starts and while it
 * runs.
 */
#ifndef AGENT_HAZARDS_H
#define AGENT_HAZARDS_H

#include <stdint.h>
#include <sys/types.h>

#include "loops.h"
#include "movement.h"
#include "report.h"
#include "spec.h"
#include "stops.h"

struct hazards {
	const struct spec *spec;
	struct report *report;
	pid_t emulator;
	pid_t subject;
	struct loops siblings;
	struct loops hogs;
	struct loops crowd; /* hogs on every core */
	struct movement movement;
	struct stops stops;
	pid_t memory_hog;
	uint64_t siblings_origin_ns; /* the origin of their schedule */
	uint64_t siblings_due_ns;    /* when they start or stop next */
	uint64_t wall_step_due_ns;
	bool siblings_run;
};

/*
 * Begins what has to be there before the subject; `emulator` is the process that serves it.
 * Returns 0, or a negative errno with the reason in the report.
 */
int hazards_begin(
	struct hazards *hazards, const struct spec *spec, struct report *report, pid_t emulator);

/* The subject is about to start, which is when most of them begin to count. */
void hazards_subject_starts(struct hazards *hazards);

/* It has started. 0 or a negative errno. */
int hazards_subject_started(struct hazards *hazards, pid_t subject);

/*
 * The emulator has accepted it, and holds it until we return. `printed_bytes` is how much it had
 * printed by then: it tells whether a calibration was over.
 */
void hazards_subject_accepted(struct hazards *hazards, uint64_t printed_bytes);

/* When hazards_run_due() has something to do next; `deadline_ns` where that is later. */
uint64_t hazards_due_ns(const struct hazards *hazards, uint64_t deadline_ns);
void hazards_run_due(struct hazards *hazards);

/* The subject has ended: what was done to itself is reported. */
void hazards_subject_ended(struct hazards *hazards);

/* Ends all of them, and reports what they came to. */
void hazards_end(struct hazards *hazards);

#endif
