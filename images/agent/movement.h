/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a subject gets from core to core while it runs, and how cores come and go. */
#ifndef AGENT_MOVEMENT_H
#define AGENT_MOVEMENT_H

#include <stdint.h>
#include <sys/types.h>

#include "report.h"
#include "spec.h"

/* A draw of each second beat of a rate. */
struct movement_beat {
	uint64_t period_ns; /* 0: never */
	uint64_t due_ns;
	uint64_t state; /* the state of its draws */
	uint64_t count;
};

struct movement {
	const struct spec_movement *spec;
	struct report *report;
	pid_t subject;
	unsigned int cores; /* where any of the beats needs them */
	unsigned int core;  /* where it was put last */
	unsigned int gone;  /* the core that was taken away; 0: none */
	uint64_t move_due_ns;
	struct movement_beat migrate;
	struct movement_beat hotplug;
};

/* `subject` has just started. */
void movement_begin(struct movement *movement, const struct spec_movement *spec,
	struct report *report, pid_t subject);

/* The emulator has accepted it, and waits for this to return. */
void movement_accepted(struct movement *movement);

void movement_run_due(struct movement *movement, uint64_t now_ns);

/* Gives every core back, and reports what it came to. */
void movement_end(struct movement *movement);

#endif
