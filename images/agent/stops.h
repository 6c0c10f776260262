/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stops and continues a process, again and again, as job control or a debugger would. */
#ifndef AGENT_STOPS_H
#define AGENT_STOPS_H

#include <stdint.h>
#include <sys/types.h>

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

#endif
