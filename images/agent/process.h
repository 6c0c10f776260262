/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of a cell: emulator above everything, agent below it, subject and siblings normal.
 */
#ifndef AGENT_PROCESS_H
#define AGENT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "report.h"
#include "spec.h"

#define SIBLINGS_MAX 64

struct siblings {
	pid_t pid[SIBLINGS_MAX];
	size_t count;
	volatile uint64_t *turns; /* one cache line a sibling, shared with it */
};

struct emulator {
	pid_t pid;
	int ready;   /* a line arrives when it listens */
	int arrived; /* a byte arrives when it has accepted its client */
	int release; /* a byte sent here lets it go on */
};

/* Sleeps that long. */
void process_sleep_ms(unsigned int ms);

/* Real-time priority for the agent itself, on core 0. */
int process_init(void);

/* Starts the emulator in `folder` and waits until it listens. 0 or a negative errno. */
int emulator_start(struct emulator *emulator, const struct spec *spec, const char *folder);

/* Starts one loop on each of the cores 1 to `count` and waits until all are seen to turn. */
int siblings_start(struct siblings *siblings, unsigned int count);

/* Ends and reaps them all. */
void siblings_stop(struct siblings *siblings);

/*
 * Starts an ordinary program on core 0 in its own root, its output in the file `output`.
 * Returns 0 or a negative errno.
 */
int process_start(pid_t *pid, const struct spec_words *words, const char *root, const char *output);

/* Waits until `fd` has something to read: false where `pid` ended or the deadline came first. */
bool process_wait_readable(int fd, pid_t pid, uint64_t deadline_ns);

/* Waits for one child; a deadline of the virtual clock ends it with SIGKILL. */
void process_reap(pid_t pid, uint64_t deadline_ns, struct subject_end *end);

#endif
