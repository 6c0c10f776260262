/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's own events, as JSON lines; the host merges them with the emulator's by time. */
#ifndef AGENT_REPORT_H
#define AGENT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report {
	FILE *lines;
	char *text;
	size_t bytes;
	int kernel_log; /* /dev/kmsg from report_open() on; -1 where there is none */
};

struct subject_end {
	uint64_t t_ns;
	int wait_status;
	bool timed_out;
	uint64_t user_ns;
	uint64_t sys_ns;
	long voluntary_switches;
	long involuntary_switches;
};

int report_open(struct report *report);

/* Reports the guest: kernel and its version, command line, clocksource, cores. */
void report_guest(struct report *report);

/*
 * Reports the progress of the guest's CLOCK_MONOTONIC and of the raw counter in the same
 * `sleep_ns`, and how often the first core's own timer interrupted it in that time.
 */
void report_clock_rate(struct report *report, uint64_t sleep_ns);

/* An event with up to one number of its own; pass a NULL key for none. */
void report_moment(struct report *report, const char *event, const char *key, uint64_t value);

struct report_number {
	const char *key;
	uint64_t value;
};

/* An event with several numbers of its own; one without a key ends them. */
void report_numbers(struct report *report, const char *event, const struct report_number *numbers);

void report_subject_end(struct report *report, const struct subject_end *end);

/* Everything of level warning and above that the kernel said since report_open(). */
void report_kernel_log(struct report *report);

/* Interrupts of the first core's own timer, from the text of /proc/interrupts. */
uint64_t report_timer_interrupts(FILE *interrupts);

void report_error(struct report *report, const char *what, const char *detail);

/* The same of a negative errno, and nothing of 0; returns it. */
int report_failure(struct report *report, const char *what, int error);

#endif
