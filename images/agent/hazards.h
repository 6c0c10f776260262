/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hazards, the agent's actions on a subject before it starts and while it runs: load, clocks,
 * rights, cores.
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
	uint64_t siblings_due_ns;    /* the next start or stop of siblings */
	uint64_t wall_step_due_ns;
	bool siblings_run;
};

/*
 * Begins the hazards that come before the subject; `emulator` is the emulator's process. Returns 0,
 * or a negative errno with the reason in the report.
 */
int hazards_begin(
	struct hazards *hazards, const struct spec *spec, struct report *report, pid_t emulator);

/* Begins the schedules that count from the subject's start, just before it. */
void hazards_subject_starts(struct hazards *hazards);

/* Begins movements and stops of the started subject. Returns 0 or a negative errno. */
int hazards_subject_started(struct hazards *hazards, pid_t subject);

/*
 * Runs the hazards of the moment at which the emulator has accepted the subject. `printed_bytes`
 * is how much the subject has printed, which shows if its calibration was over.
 */
void hazards_subject_accepted(struct hazards *hazards, uint64_t printed_bytes);

/* Returns when hazards_run_due() must be called next, `deadline_ns` at the latest. */
uint64_t hazards_due_ns(const struct hazards *hazards, uint64_t deadline_ns);
void hazards_run_due(struct hazards *hazards);

/* Ends and reports the stops and movements of a subject that has ended. */
void hazards_subject_ended(struct hazards *hazards);

/* Ends all other hazards, and reports their results. */
void hazards_end(struct hazards *hazards);

#endif
