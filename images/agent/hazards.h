/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the agent does to a subject: load, clocks and rights, before it starts and while it runs. */
#ifndef AGENT_HAZARDS_H
#define AGENT_HAZARDS_H

#include <stdint.h>
#include <sys/types.h>

#include "loops.h"
#include "memory_hog.h"
#include "report.h"
#include "spec.h"

struct hazards {
	const struct spec_hazards *spec;
	struct report *report;
	struct loops siblings;
	struct loops hogs;
	struct loops crowd; /* hogs on every core */
	struct memory_hog memory_hog;
	uint64_t siblings_origin_ns; /* of their schedule */
	uint64_t siblings_due_ns;    /* when they start or stop next */
	uint64_t wall_step_due_ns;
	bool siblings_run;
};

/*
 * Begins what has to be there before the subject; `emulator` is the process that serves it.
 * Returns 0, or a negative errno with the reason in the report.
 */
int hazards_begin(struct hazards *hazards, const struct spec_hazards *spec, struct report *report,
	pid_t emulator);

/* The subject starts at `now_ns`, which is when most of them begin to count. */
void hazards_subject_starts(struct hazards *hazards, uint64_t now_ns);

/*
 * The emulator has accepted `subject`, and holds it until we return. `printed_bytes` is how much
 * the subject had printed by then: it tells whether a calibration was over.
 */
void hazards_subject_accepted(
	struct hazards *hazards, pid_t subject, uint64_t now_ns, uint64_t printed_bytes);

/* When hazards_run_due() has something to do next; UINT64_MAX for never. */
uint64_t hazards_due_ns(const struct hazards *hazards);

/* Does what is due at `now_ns`. */
void hazards_run_due(struct hazards *hazards, uint64_t now_ns);

/* Ends all of them, and reports what they came to. */
void hazards_end(struct hazards *hazards);

#endif
