// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Process 1 of guests of the live lane, which runs in real time: boots, loads the driver of its
 * network card, connects to the host, and runs one cell.
 *
 *   boot -> card -> connect -> cell -> parcel -> PAUSE (the host reads the parcel)
 *
 * A failure in the cell becomes an `agent_error` event, which the rig reports as its own fault.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cell.h"
#include "channel.h"
#include "devices.h"
#include "guest.h"
#include "hypercall.h"
#include "process.h"
#include "shared/timespec.h"

#define PORT_KEY "rig.host_port="
#define DRIVER "/driver.ko"
#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define EARLY_CLOCKSOURCE "tsc-early"
#define LOOKS_MAX 200
#define LOOK_MS 50
#define NO_PROCESS 0
#define REHEARSAL_MS 60000

uint64_t hypercall_virtual_ns(void)
{
	return monotonic_ns();
}

/*
 * Waits until the kernel has replaced the clocksource tsc-early: about a second after the boot it
 * has measured the counter's rate again.
 */
static int await_settled_clock(void)
{
	for (unsigned int looks = 0; looks < LOOKS_MAX; looks++) {
		char *name = guest_read_text(CLOCKSOURCE);
		bool settled = name &&
			       strncmp(name, EARLY_CLOCKSOURCE, sizeof(EARLY_CLOCKSOURCE) - 1) != 0;

		free(name);
		if (settled)
			return 0;
		process_sleep_ms(LOOK_MS);
	}
	return -ETIMEDOUT;
}

/* Runs the hazards that depend on the acceptance of the client; only then is it served. */
static int answer_accept(int channel, struct hazards *hazards)
{
	int error = channel_await(channel, "accepted");

	if (error)
		return error;
	cell_subject_accepted(hazards);
	return channel_say(channel, "released");
}

/* Runs the hazards that are due, until the subject ends or its time is up. */
static int accompany(int channel, struct hazards *hazards, pid_t subject, uint64_t *deadline_ns)
{
	bool accepted = false;

	while (hypercall_virtual_ns() < *deadline_ns) {
		int error;

		switch (process_await(channel, subject, hazards_due_ns(hazards, *deadline_ns))) {
		case PROCESS_READABLE:
			/* The next word means that the only client was disconnected. */
			error = accepted ? channel_await(channel, "alone")
					 : answer_accept(channel, hazards);
			if (error)
				return error;
			if (accepted)
				*deadline_ns = hypercall_virtual_ns();
			accepted = true;
			break;
		case PROCESS_HUNG_UP:
			return -EPIPE;
		case PROCESS_ENDED:
			return 0;
		case PROCESS_TIME_IS_UP:
			hazards_run_due(hazards);
			break;
		}
	}
	return 0;
}

/* Returns 0, also if the subject did not start, or a negative errno if the host was lost. */
static int run_subject(int channel, struct hazards *hazards)
{
	uint64_t deadline_ns = hypercall_virtual_ns() + hazards->spec->deadline_ms * NS_PER_MS;
	pid_t subject;
	int error = cell_start_subject(hazards, &subject);

	if (report_failure(hazards->report, "the subject did not start", error) < 0)
		return 0;
	error = channel_say(channel, "started");
	if (!error)
		error = accompany(channel, hazards, subject, &deadline_ns);
	if (!error)
		cell_end_subject(hazards, deadline_ns);
	return error;
}

/* Returns as run_subject() does. */
static int run_with_hazards(int channel, struct report *report, const struct spec *spec)
{
	struct hazards hazards;
	int error = 0;

	process_sleep_ms(spec->settle_ms);
	if (hazards_begin(&hazards, spec, report, NO_PROCESS) == 0)
		error = run_subject(channel, &hazards);
	hazards_end(&hazards);
	return error;
}

/* Runs the rehearsal; its result does not matter. Returns 0 or a negative errno. */
static int rehearse(const struct spec *spec)
{
	const struct program program = {
		.words = &spec->rehearsal,
		.root = spec->root,
		.output = CELL_OUTPUT, /* a file, so that file_bytes_max limits it */
		.file_bytes_max = spec->file_bytes_max,
		.anywhere = true,
	};
	struct subject_end end;
	pid_t pid;
	int error;

	if (spec->rehearsal.count == 0)
		return 0;
	error = process_start(&pid, &program);
	if (!error)
		process_reap(pid, hypercall_virtual_ns() + REHEARSAL_MS * NS_PER_MS, &end);
	return error;
}

/*
 * Writes failures to the report. A cell that cannot run has the same conversation as others, so
 * that the host reads the report at once.
 */
static void run_cell(
	const struct window *window, int channel, struct report *report, struct spec *spec)
{
	bool can_run = cell_take_in(window, report, spec) == 0 &&
		       report_failure(report, "the rehearsal did not start", rehearse(spec)) == 0;
	int error = channel_say(channel, "ready");

	if (!error)
		error = channel_await(channel, "go");
	if (!error && can_run)
		error = run_with_hazards(channel, report, spec);
	if (!error)
		error = channel_say(channel, "ended");
	if (!error)
		error = channel_await(channel, "finish");
	report_failure(report, "the host was lost", error);
}

int main(void)
{
	struct report report;
	struct window window;
	struct spec spec = {0};
	int channel, error;

	guest_begin(&window);
	guest_require(devices_load_module(DRIVER), "no driver of the network card");
	channel = channel_open((uint16_t)guest_number(PORT_KEY));
	guest_require(channel, "no line to the host");
	error = await_settled_clock();
	if (!error)
		error = report_open(&report);
	guest_require(error, "no settled clock or no report");
	report_guest(&report);

	run_cell(&window, channel, &report, &spec);
	cell_send(&window, &spec, &report);
	guest_stop("done", 0);
}
