/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host program's own events, as JSON lines; the rig merges them with the others by time. */
#ifndef HOST_EVENTS_H
#define HOST_EVENTS_H

#include <stdint.h>
#include <stdio.h>

/* Opens the new file `path`; NULL: events go nowhere. 0 or a negative errno. */
int events_open(FILE **events, const char *path);

/* Each line is written at once, so that a program that is ended leaves what came before. */
void events_host_start(FILE *events);

/* One call of the library's delay function, by both clocks. */
struct delay_call {
	uint64_t start_ns; /* the raw counter */
	uint64_t requested_ns;
	uint64_t actual_ns;
	uint64_t monotonic_ns; /* from before to after the raw counter was read */
};

void events_delay_call(FILE *events, const struct delay_call *call);

/* How many signals were handled, and how often the other threads were seen to turn. */
void events_host_end(FILE *events, uint64_t signals, uint64_t turns);

#endif
