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
	int kernel_log; /* /dev/kmsg from report_open() on; -1: none */
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

/* Begins an empty report. Returns 0 or a negative errno. */
int report_open(struct report *report);

/* Reports the guest's kernel with its version and command line, the clocksource and the cores. */
void report_guest(struct report *report);

/*
 * Sleeps `sleep_ns`, and reports how far CLOCK_MONOTONIC and the agent's clock advanced meanwhile,
 * and how often the first core's own timer interrupted it.
 */
void report_clock_rate(struct report *report, uint64_t sleep_ns);

/* Reports an event with one number, or with none if `key` is NULL. */
void report_moment(struct report *report, const char *event, const char *key, uint64_t value);

struct report_number {
	const char *key;
	uint64_t value;
};

/* Reports an event with several numbers; a NULL key ends them. */
void report_numbers(struct report *report, const char *event, const struct report_number *numbers);

void report_subject_end(struct report *report, const struct subject_end *end);

/*
 * Reports the kernel's messages since report_open() that are warnings or worse, or that say that a
 * program used an instruction that the CPU lacks.
 */
void report_kernel_log(struct report *report);

void report_error(struct report *report, const char *what, const char *detail);

/* Reports an error if `error`, 0 or a negative errno, is not 0. Returns `error`. */
int report_failure(struct report *report, const char *what, int error);

#endif
