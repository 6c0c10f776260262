/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hazards, the agent's actions on a subject before it starts and while it runs: load, clocks,
 * rights, cores.
 */
#ifndef AGENT_HAZARDS_H
#define AGENT_HAZARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "report.h"
#include "spec.h"

/* Stops and continues a process, again and again, as job control or a debugger would. */

struct stops {
	pid_t pid;                /* the process that sends the signals; 0: none */
	volatile uint64_t *count; /* shared with it */
};

/*
 * Sends SIGSTOP to `subject` `hz` times a second, and SIGCONT half a period after each; never if
 * `hz` is 0. Returns 0 or a negative errno.
 */
int stops_start(struct stops *stops, pid_t subject, unsigned int hz);

/* Ends the stops, and returns how often the subject was stopped. */
uint64_t stops_end(struct stops *stops);

/* Moves a subject from core to core while it runs, and takes cores offline and back online. */

/* A periodic event, which draws random numbers. */
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
	unsigned int gone;  /* the core that is offline; 0: none */
	uint64_t move_due_ns;
	struct movement_beat migrate;
	struct movement_beat hotplug;
};

/* Plans the movements of a subject that has just started. */
void movement_begin(struct movement *movement, const struct spec_movement *spec,
	struct report *report, pid_t subject);

/* Plans the move that counts from the emulator's acceptance of the subject, or makes it at once. */
void movement_accepted(struct movement *movement);

void movement_run_due(struct movement *movement, uint64_t now_ns);

/* Brings an offline core back online, and reports the numbers of events. */
void movement_end(struct movement *movement);

/* Processes that only count: busy siblings on other cores, hogs on the subject's core. */

#define LOOPS_MAX 64

struct loops {
	pid_t pid[LOOPS_MAX];
	size_t count;
	bool beside_us;           /* some run on the agent's core, while the agent sleeps */
	volatile uint64_t *turns; /* one cache line a loop, shared with it */
};

/*
 * Starts `count` loops, on `core` and on every `stride`-th core after it, and waits until all of
 * them count. Returns 0, -EINVAL for too few cores or too many loops, -ETIMEDOUT or another
 * negative errno. In any case the caller must call loops_end().
 */
int loops_start(struct loops *loops, unsigned int count, unsigned int core, unsigned int stride);

/* Starts `each` loops on every core, in the same way. */
int loops_start_crowd(struct loops *loops, unsigned int each);

/* Stops the loops, and returns when they have stopped. */
void loops_pause(const struct loops *loops);
void loops_resume(const struct loops *loops);

/* Returns the fewest turns of any loop; 0 if there are no loops. */
uint64_t loops_turns_min(const struct loops *loops);

/* Ends and reaps them all. */
void loops_end(struct loops *loops);

/* A process that keeps touching new memory, so that the kernel must always reclaim some. */

/*
 * Starts the hog on the subject's core, and waits until the kernel reclaims memory. Returns 0 or a
 * negative errno.
 */
int memory_hog_start(pid_t *hog);

/* Ends the process, unless it is 0. */
void memory_hog_end(pid_t *hog);

/* Returns the pages that were reclaimed so far, from the text of /proc/vmstat. */
uint64_t memory_hog_reclaimed(FILE *vmstat);

/* Returns that number for this guest; 0 if it cannot be read. */
uint64_t memory_hog_reclaimed_now(void);

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
 * Begins the hazards that start before the subject; `emulator` is the emulator's process. Returns
 * 0, or a negative errno with the reason in the report.
 */
int hazards_begin(
	struct hazards *hazards, const struct spec *spec, struct report *report, pid_t emulator);

/* Begins the schedules that count from the subject's start, just before it. */
void hazards_subject_starts(struct hazards *hazards);

/* Begins movements and stops of the started subject. Returns 0 or a negative errno. */
int hazards_subject_started(struct hazards *hazards, pid_t subject);

/*
 * Runs the hazards that depend on the emulator's acceptance of the subject. `printed_bytes` is the
 * size of the subject's output so far, which shows if its calibration is over.
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
