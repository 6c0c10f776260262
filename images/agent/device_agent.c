// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Process 1 of guests whose chip is in QEMU, behind the registers of a programmer: boots, pauses
 * for the snapshot, then runs one cell. There is no emulator.
 *
 *   boot -> settle -> PAUSE (the snapshot) -> fetch the cell -> siblings, subject -> parcel
 *        -> PAUSE (the host reads the parcel and ends the machine)
 *
 * A failure in the cell becomes an `agent_error` event, which the rig reports as its own fault.
 */
#include "cell.h"
#include "devices.h"
#include "guest.h"
#include "hypercall.h"
#include "process.h"
#include "serprog/counter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define OPENS_FILE CELL_FOLDER "/opens" /* paths of the files that lead to the programmer */
#define MODULES_FOLDER "/modules"
#define NO_PROCESS 0

uint64_t hypercall_virtual_ns(void)
{
	return counter_read_ns();
}

/*
 * Watches for opens of the paths, one a line. Returns a new inotify descriptor, or a negative
 * errno. Source: inotify(7).
 */
static int watch_paths(char *paths)
{
	int watch = inotify_init1(IN_CLOEXEC);
	const char *path;

	if (watch < 0)
		return -errno;
	while ((path = strsep(&paths, "\n")) != NULL) {
		if (*path != '\0' && inotify_add_watch(watch, path, IN_OPEN) < 0) {
			int error = -errno;

			close(watch);
			return error;
		}
	}
	return watch;
}

/*
 * Returns a descriptor that becomes readable when the subject opens a file that leads to its
 * programmer, or a negative errno. inotify does not delay the open(), and devices have no
 * permission events, which would. But the agent has a higher priority on the same core, so the
 * subject continues only when the agent is done.
 */
static int watch_opening(void)
{
	char *paths = guest_read_text(OPENS_FILE);
	int watch = paths ? watch_paths(paths) : -errno;

	free(paths);
	return watch;
}

/*
 * Runs the hazards that wait for the subject to open its programmer: siblings without a schedule
 * have ended before it reaches a register.
 */
static void answer_opening(int *watch, struct hazards *hazards)
{
	report_moment(hazards->report, "accept", NULL, 0);
	cell_subject_accepted(hazards);
	close(*watch);
	*watch = -1;
	hypercall_mark(MARK_SUBJECT_CONNECTED);
}

/* Runs the hazards that are due, until the subject ends or its time is up. */
static void accompany(int *watch, struct hazards *hazards, pid_t subject, uint64_t deadline_ns)
{
	while (hypercall_virtual_ns() < deadline_ns) {
		switch (process_await(*watch, subject, hazards_due_ns(hazards, deadline_ns))) {
		case PROCESS_READABLE:
			answer_opening(watch, hazards);
			break;
		case PROCESS_HUNG_UP:
		case PROCESS_ENDED:
			return;
		case PROCESS_TIME_IS_UP:
			hazards_run_due(hazards);
			break;
		}
	}
}

/* Writes failures to the report. */
static void run_subject(struct hazards *hazards)
{
	uint64_t deadline_ns;
	pid_t subject;
	int watch = watch_opening();
	int error;

	if (report_failure(hazards->report, "the programmer cannot be watched", watch) < 0)
		return;
	hypercall_mark(MARK_EMULATOR_READY);
	deadline_ns = hypercall_virtual_ns() + hazards->spec->deadline_ms * NS_PER_MS;
	error = cell_start_subject(hazards, &subject);
	if (report_failure(hazards->report, "the subject was lost", error) == 0) {
		accompany(&watch, hazards, subject, deadline_ns);
		cell_end_subject(hazards, deadline_ns);
	}
	if (watch >= 0)
		close(watch);
}

/* Writes failures to the report. */
static void run_cell(const struct window *window, struct report *report, struct spec *spec)
{
	struct hazards hazards;

	if (cell_take_in(window, report, spec) < 0)
		return;
	report_clock_rate(report, spec->settle_ms * NS_PER_MS);
	hypercall_mark(MARK_SETTLED);
	if (hazards_begin(&hazards, spec, report, NO_PROCESS) == 0)
		run_subject(&hazards);
	hazards_end(&hazards);
	hypercall_mark(MARK_EMULATOR_ENDED);
}

int main(void)
{
	struct report report;
	struct window window;
	struct spec spec = {0};

	guest_begin(&window);
	guest_require(devices_enable(), "devices cannot be turned on");
	guest_require(
		devices_load_modules(MODULES_FOLDER), "a module of the kernel cannot be loaded");
	guest_require(devices_bind_spidev(), "no spidev for a device on an SPI bus");
	guest_take_snapshot(&report);

	run_cell(&window, &report, &spec);
	cell_send(&window, &spec, &report);
	guest_stop("done", 0);
}
