// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "cell.h"
#include "folders.h"
#include "hazards.h"
#include "hypercall.h"
#include "process.h"
#include "stops.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CELL_FOLDER "/cell"
#define EMULATOR_WORDS "/emulator"
#define CELL_FILE "opt/org.flashrom.rig/cell"
#define SUBJECT_FILE "opt/org.flashrom.rig/subject"
#define BRIDGE_FILE "opt/org.flashrom.rig/bridge"
#define NS_PER_MS UINT64_C(1000000)
#define EMULATOR_END_MS 60000
#define GIVEN_UP_MS 1000 /* that a subject gets to notice that the emulator hung up on it */

/*
 * The emulator holds its new client until we answer, so that plain siblings are gone before the
 * first byte of the protocol is served.
 */
static int answer_accept(struct emulator *emulator, struct hazards *hazards, pid_t subject)
{
	struct stat output = {0};
	char byte = 0;

	if (read(emulator->arrived, &byte, 1) != 1)
		return -EPIPE;
	stat(CELL_FOLDER "/stdout.txt", &output);
	hazards_subject_accepted(
		hazards, subject, hypercall_virtual_ns(), (uint64_t)output.st_size);
	if (write(emulator->release, &byte, 1) != 1)
		return -errno;
	hypercall_mark(MARK_SUBJECT_CONNECTED);
	return 0;
}

static uint64_t end_soon_ns(uint64_t deadline_ns)
{
	uint64_t soon_ns = hypercall_virtual_ns() + GIVEN_UP_MS * NS_PER_MS;

	return soon_ns < deadline_ns ? soon_ns : deadline_ns;
}

/* Does to the subject what is due, until it ends or its time is up. */
static int accompany(
	struct emulator *emulator, struct hazards *hazards, pid_t subject, uint64_t *deadline_ns)
{
	int arrived = emulator->arrived;
	bool accepted = false;

	while (hypercall_virtual_ns() < *deadline_ns) {
		uint64_t due_ns = hazards_due_ns(hazards);
		int error;

		switch (process_await(
			arrived, subject, due_ns < *deadline_ns ? due_ns : *deadline_ns)) {
		case PROCESS_READABLE:
			/* There is one client alone: what comes next is that it was given up. */
			if (accepted) {
				*deadline_ns = end_soon_ns(*deadline_ns);
				arrived = -1;
				break;
			}
			error = answer_accept(emulator, hazards, subject);
			if (error)
				return error;
			accepted = true;
			break;
		case PROCESS_HUNG_UP:
			arrived = -1;
			break;
		case PROCESS_ENDED:
			return 0;
		case PROCESS_TIME_IS_UP:
			hazards_run_due(hazards, hypercall_virtual_ns());
			break;
		}
	}
	return 0;
}

static int start_bridge(const struct window *window, const struct spec *spec, pid_t *bridge)
{
	const struct program program = {
		.words = &spec->bridge,
		.root = spec->bridge_root,
		.output = CELL_FOLDER "/bridge.log",
	};
	int error;

	*bridge = 0;
	if (spec->bridge.count == 0)
		return 0;
	error = folders_unpack(window, BRIDGE_FILE, spec->bridge_root);
	if (!error)
		error = folders_show_system_in(spec->bridge_root);
	if (!error)
		error = process_start(bridge, &program);
	return error ? error : folders_await_file(spec->bridge_makes);
}

/* What the subject runs beside. */
struct scene {
	struct hazards hazards;
	pid_t bridge; /* 0: there is none */
};

/* What went wrong is in the report. */
static int set_scene(const struct window *window, const struct spec *spec,
	struct emulator *emulator, struct report *report, struct scene *scene)
{
	int error = emulator_tell(emulator, &spec->emulator);

	if (error) {
		report_error(report, "the emulator did not get ready", strerror(-error));
		return error;
	}
	error = start_bridge(window, spec, &scene->bridge);
	if (error) {
		report_error(report, "the bridge did not start", strerror(-error));
		return error;
	}
	error = hazards_begin(&scene->hazards, &spec->hazards, report, emulator->pid);
	if (error)
		hazards_end(&scene->hazards);
	return error;
}

static void clear_scene(const struct emulator *emulator, struct report *report, struct scene *scene)
{
	struct subject_end end;

	hazards_end(&scene->hazards);
	if (scene->bridge > 0) {
		kill(scene->bridge, SIGKILL);
		waitpid(scene->bridge, NULL, 0);
	}
	/* The client is gone, so the emulator ends by itself, unless nobody ever came. */
	kill(emulator->pid, SIGTERM);
	process_reap(emulator->pid, hypercall_virtual_ns() + EMULATOR_END_MS * NS_PER_MS, &end);
	hypercall_mark(MARK_EMULATOR_ENDED);
	report_moment(report, "emulator_end", "exit_code",
		WIFEXITED(end.wait_status) ? (uint64_t)WEXITSTATUS(end.wait_status) : 255);
}

static int run_subject(const struct window *window, const struct spec *spec,
	struct emulator *emulator, struct report *report)
{
	struct stops stops;
	struct scene scene;
	const struct program program = {
		.words = &spec->subject,
		.root = spec->root,
		.output = CELL_FOLDER "/stdout.txt",
		.file_bytes_max = spec->file_bytes_max,
		.realtime_denied = spec->hazards.realtime_denied,
	};
	struct subject_end end;
	uint64_t deadline_ns;
	pid_t subject;
	int error = set_scene(window, spec, emulator, report, &scene);

	if (error)
		return error;
	hypercall_mark(MARK_EMULATOR_READY);
	deadline_ns = hypercall_virtual_ns() + spec->deadline_ms * NS_PER_MS;
	hazards_subject_starts(&scene.hazards, hypercall_virtual_ns());
	report_moment(report, "subject_start", NULL, 0);
	error = process_start(&subject, &program);
	if (!error)
		error = stops_start(&stops, subject, spec->stops_hz);
	if (!error)
		error = accompany(emulator, &scene.hazards, subject, &deadline_ns);
	if (error) {
		report_error(report, "the subject was lost", strerror(-error));
		return error;
	}
	process_reap(subject, deadline_ns, &end);
	hypercall_mark(MARK_SUBJECT_ENDED);
	report_subject_end(report, &end);
	if (spec->stops_hz)
		report_moment(report, "stops", "count", stops_end(&stops));
	clear_scene(emulator, report, &scene);
	return 0;
}

int cell_take_in(const struct window *window, struct report *report, struct spec *spec)
{
	char *text;
	size_t wrong_line;
	int error;

	error = folders_unpack(window, CELL_FILE, CELL_FOLDER);
	if (error) {
		report_error(report, "no cell came through fw_cfg", strerror(-error));
		return error;
	}
	hypercall_mark(MARK_CELL_IN);
	text = folders_read_text(CELL_FOLDER "/spec");
	if (!text) {
		report_error(report, "the cell has no spec", strerror(errno));
		return -ENOENT;
	}
	wrong_line = spec_parse(text, spec);
	if (wrong_line) {
		char detail[32];

		snprintf(detail, sizeof(detail), "line %zu", wrong_line);
		report_error(report, "the cell's spec is wrong", detail);
		return -EINVAL;
	}
	error = folders_unpack(window, SUBJECT_FILE, spec->root);
	if (error) {
		report_error(report, "no subject came through fw_cfg", strerror(-error));
		return error;
	}
	for (size_t i = 0; i < spec->images; i++) {
		error = folders_make_image(&spec->image[i]);
		if (error) {
			report_error(report, spec->image[i].path, strerror(-error));
			return error;
		}
	}
	error = folders_show_system_in(spec->root);
	if (error) {
		report_error(report, "no system folders for the subject", strerror(-error));
		return error;
	}
	hypercall_mark(MARK_SUBJECT_IN);
	return 0;
}

int cell_prepare_emulator(struct emulator *emulator)
{
	struct spec_words words;
	char *text = folders_read_text(EMULATOR_WORDS);

	if (!text)
		return -errno;
	if (!spec_parse_words(text, &words))
		return -EINVAL;
	mkdir(CELL_FOLDER, 0755);
	return emulator_stand_by(emulator, &words, CELL_FOLDER);
}

void cell_run(const struct window *window, struct emulator *emulator, struct report *report,
	struct spec *spec)
{
	if (cell_take_in(window, report, spec) < 0)
		return;
	report_clock_rate(report, spec->settle_ms * NS_PER_MS);
	hypercall_mark(MARK_SETTLED);
	run_subject(window, spec, emulator, report);
}

void cell_send(struct parcel *parcel, const struct spec *spec, struct report *report)
{
	for (size_t i = 0; i < spec->collects; i++) {
		const struct spec_collect *want = &spec->collect[i];
		int error = parcel_add_file(parcel, want->name, want->path,
			(off_t)want->offset_bytes, want->size_bytes);

		if (error && error != -ENOENT)
			report_error(report, want->name, strerror(-error));
	}
	report_kernel_log(report);
	fflush(report->lines);
	if (parcel_add(parcel, "agent.jsonl", report->text, report->bytes) == 0)
		parcel_seal(parcel);
	hypercall_mark(MARK_RESULTS_OUT);
}
