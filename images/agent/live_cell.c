// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "live_cell.h"
#include "cell.h"
#include "channel.h"
#include "hazards.h"
#include "hypercall.h"
#include "movement.h"
#include "process.h"
#include "stops.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define OUTPUT "/cell/stdout.txt"
#define NS_PER_MS UINT64_C(1000000)
#define NO_PROCESS 0
#define REHEARSAL_MS 60000

/* What is done to the subject while it runs. */
struct doings {
	struct hazards hazards;
	struct movement movement;
	struct stops stops;
};

/* The host's emulator holds its new client until we answer. */
static int answer_accept(int channel, struct doings *doings, pid_t subject)
{
	struct stat output = {0};
	int error = channel_await(channel, "accepted");

	if (error)
		return error;
	stat(OUTPUT, &output);
	hazards_subject_accepted(
		&doings->hazards, subject, hypercall_virtual_ns(), (uint64_t)output.st_size);
	movement_accepted(&doings->movement, hypercall_virtual_ns());
	return channel_say(channel, "released");
}

static void run_due(struct doings *doings)
{
	uint64_t now_ns = hypercall_virtual_ns();

	hazards_run_due(&doings->hazards, now_ns);
	movement_run_due(&doings->movement, now_ns);
}

static uint64_t next_due_ns(const struct doings *doings, uint64_t deadline_ns)
{
	const uint64_t due_ns[] = {
		hazards_due_ns(&doings->hazards), movement_due_ns(&doings->movement)};

	for (size_t i = 0; i < sizeof(due_ns) / sizeof(due_ns[0]); i++)
		if (due_ns[i] < deadline_ns)
			deadline_ns = due_ns[i];
	return deadline_ns;
}

/* Does to the subject what is due, until it ends or its time is up. */
static int accompany(int channel, struct doings *doings, pid_t subject, uint64_t *deadline_ns)
{
	bool accepted = false;

	while (hypercall_virtual_ns() < *deadline_ns) {
		int error;

		switch (process_await(channel, subject, next_due_ns(doings, *deadline_ns))) {
		case PROCESS_READABLE:
			/* There is one client alone, so that what comes next is that it was given
			 * up. */
			error = accepted ? channel_await(channel, "alone")
					 : answer_accept(channel, doings, subject);
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
			run_due(doings);
			break;
		}
	}
	return 0;
}

static int start_subject(int channel, const struct spec *spec, struct report *report,
	struct doings *doings, pid_t *subject)
{
	const struct program program = {
		.words = &spec->subject,
		.root = spec->root,
		.output = OUTPUT,
		.file_bytes_max = spec->file_bytes_max,
		.realtime_denied = spec->hazards.realtime_denied,
		.anywhere = spec->movement.anywhere,
	};
	int error;

	hazards_subject_starts(&doings->hazards, hypercall_virtual_ns());
	report_moment(report, "subject_start", NULL, 0);
	error = process_start(subject, &program);
	if (error)
		return error;
	movement_begin(
		&doings->movement, &spec->movement, report, *subject, hypercall_virtual_ns());
	error = stops_start(&doings->stops, *subject, spec->stops_hz);
	return error ? error : channel_say(channel, "started");
}

static int run_subject(
	int channel, const struct spec *spec, struct report *report, struct doings *doings)
{
	uint64_t deadline_ns = hypercall_virtual_ns() + spec->deadline_ms * NS_PER_MS;
	struct subject_end end;
	pid_t subject;
	int error;

	error = start_subject(channel, spec, report, doings, &subject);
	if (!error)
		error = accompany(channel, doings, subject, &deadline_ns);
	if (error)
		return error;
	process_reap(subject, deadline_ns, &end);
	report_subject_end(report, &end);
	if (spec->stops_hz)
		report_moment(report, "stops", "count", stops_end(&doings->stops));
	movement_end(&doings->movement);
	return 0;
}

/* Whatever comes of it: it is not what is put to the test. */
static int rehearse(const struct spec *spec)
{
	const struct program program = {
		.words = &spec->rehearsal,
		.root = spec->root,
		.output = OUTPUT, /* a file, which has an end */
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

void live_cell_run(
	const struct window *window, int channel, struct report *report, struct spec *spec)
{
	struct doings doings = {0};
	int error;

	if (cell_take_in(window, report, spec) < 0)
		return;
	error = rehearse(spec);
	if (!error)
		error = channel_say(channel, "ready");
	if (!error)
		error = channel_await(channel, "go");
	if (!error) {
		process_sleep_ms(spec->settle_ms);
		error = hazards_begin(&doings.hazards, &spec->hazards, report, NO_PROCESS);
		if (!error)
			error = run_subject(channel, spec, report, &doings);
		hazards_end(&doings.hazards);
	}
	if (!error)
		error = channel_say(channel, "ended");
	if (!error)
		error = channel_await(channel, "finish");
	if (error)
		report_error(report, "the host or the subject was lost", strerror(-error));
}
