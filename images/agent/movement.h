/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Moves a subject from core to core while it runs, and takes cores away and gives them back. */
#ifndef AGENT_MOVEMENT_H
#define AGENT_MOVEMENT_H

#include <stdint.h>
#include <sys/types.h>

#include "report.h"
#include "spec.h"

/* A regular event, and the random draws that it makes. */
struct movement_beat {
	uint64_t period_ns; /* 0: never */
	uint64_t due_ns;
	uint64_t state; /* the state of its random numbers */
	uint64_t count;
};

struct movement {
	const struct spec_movement *spec;
	struct report *report;
	pid_t subject;
	unsigned int cores; /* the number of cores, if a beat needs it */
	unsigned int core;  /* the core that the subject was moved to last */
	unsigned int gone;  /* the core that was taken away; 0: none */
	uint64_t move_due_ns;
	struct movement_beat migrate;
	struct movement_beat hotplug;
};

/* Plans the movements of a subject that has just started. */
void movement_begin(struct movement *movement, const struct spec_movement *spec,
	struct report *report, pid_t subject);

/* Plans, or makes, the move that counts from the emulator's acceptance of the subject. */
void movement_accepted(struct movement *movement);

void movement_run_due(struct movement *movement, uint64_t now_ns);

/* Gives the core back that was taken away, and reports the numbers of events. */
void movement_end(struct movement *movement);

#endif
