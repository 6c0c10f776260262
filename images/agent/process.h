/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of a cell: emulator above everything, agent below it, all others ordinary. */
#ifndef AGENT_PROCESS_H
#define AGENT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "report.h"
#include "spec.h"

#define PROCESS_CORE_OF_SUBJECT 0

void process_sleep_ms(unsigned int ms);

/* Real-time priority for the agent itself, on the subject's core. */
int process_init(void);

/* Makes the calling process an ordinary one, on that core, with no signal blocked. */
void process_become_ordinary(unsigned int core);

/*
 * Moves the agent to the core beside the subject's, and makes the process `emulator`, which is
 * there already, an ordinary one. 0 or a negative errno.
 */
int process_leave_core_of_subject(pid_t emulator);

/* Nothing to read for the calling process, and the file `path` for what it writes. */
void process_redirect(const char *path);

struct program {
	const struct spec_words *words;
	const char *root;               /* its own root */
	const char *output;             /* the file that takes its output */
	unsigned long file_bytes_max;   /* the limit of each file that it writes, 0: none */
	bool realtime_denied;           /* it may not take real-time priority */
	const struct refusals *refused; /* calls that fail; NULL: none */
	const struct scarcity *few;     /* its limits; NULL: none */
	uint64_t uptime_ns;             /* the uptime that it finds; 0: the machine's */
	unsigned int tsc_mhz;           /* the rate of its own counter; 0: the machine's */
	bool anywhere;                  /* it may run on any core, not the first alone */
};

/* Starts an ordinary program on the first core, or anywhere; 0 or a negative errno. */
int process_start(pid_t *pid, const struct program *program);

enum process_news {
	PROCESS_READABLE, /* the descriptor has something to read */
	PROCESS_HUNG_UP,  /* it has nothing to read, and never will */
	PROCESS_ENDED,
	PROCESS_TIME_IS_UP,
};

/*
 * Waits until `fd` has something to read or is hung up on, `pid` ends, or the virtual clock shows
 * `until_ns`; a negative `fd` is passed over.
 */
enum process_news process_await(int fd, pid_t pid, uint64_t until_ns);

/* Waits for one child; a deadline of the virtual clock ends it with SIGKILL. */
void process_reap(pid_t pid, uint64_t deadline_ns, struct subject_end *end);

#endif
