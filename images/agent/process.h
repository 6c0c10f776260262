/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes of a cell: the emulator has the highest priority, the agent the next one. */
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

/* Gives the agent real-time priority on the subject's core. Returns 0 or a negative errno. */
int process_init(void);

/* Gives the calling process ordinary priority, keeps it on that core, and unblocks all signals. */
void process_become_ordinary(unsigned int core);

/*
 * Moves the agent to the core after the subject's, and gives the process `emulator`, which runs
 * there already, ordinary priority. Returns 0 or a negative errno.
 */
int process_leave_core_of_subject(pid_t emulator);

/* Gives the calling process an empty standard input, and the file `path` as its output. */
void process_redirect(const char *path);

struct program {
	const struct spec_words *words;
	const char *root;               /* its root folder */
	const char *output;             /* the file that takes its output */
	unsigned long file_bytes_max;   /* the limit of each file that it writes; 0: none */
	bool realtime_denied;           /* it may not take real-time priority */
	const struct refusals *refused; /* system calls that fail; NULL: none */
	const struct scarcity *few;     /* limits; NULL: none */
	uint64_t uptime_ns;             /* the uptime when it starts; 0: the machine's */
	unsigned int tsc_mhz;           /* the rate of its time stamp counter; 0: the machine's */
	bool anywhere;                  /* it may run on any core, not only the first */
};

/* Starts a program of ordinary priority. Returns 0 or a negative errno. */
int process_start(pid_t *pid, const struct program *program);

enum process_news {
	PROCESS_READABLE, /* the descriptor has something to read */
	PROCESS_HUNG_UP,  /* the descriptor's other end is closed, and it has nothing to read */
	PROCESS_ENDED,
	PROCESS_TIME_IS_UP,
};

/*
 * Waits until `fd` is readable or hung up, `pid` ends, or the agent's clock shows `until_ns`. A
 * negative `fd` is ignored.
 */
enum process_news process_await(int fd, pid_t pid, uint64_t until_ns);

/* Waits for the end of one child, and kills it at `deadline_ns` of the agent's clock. */
void process_reap(pid_t pid, uint64_t deadline_ns, struct subject_end *end);

#endif
