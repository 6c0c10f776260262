// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"
#include "guest.h"
#include "hypercall.h"
#include "process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define CELL_FILE "opt/org.flashrom.rig/cell"
#define SUBJECT_FILE "opt/org.flashrom.rig/subject"

static int read_spec(struct report *report, struct spec *spec)
{
	char *text = guest_read_text(CELL_FOLDER "/spec");
	size_t wrong_line;
	char detail[32];

	if (!text) {
		report_error(report, "the cell has no spec", strerror(errno));
		return -ENOENT;
	}
	wrong_line = spec_parse(text, spec);
	if (wrong_line == 0)
		return 0;
	snprintf(detail, sizeof(detail), "line %zu", wrong_line);
	report_error(report, "the cell's spec is wrong", detail);
	return -EINVAL;
}

int cell_take_in(const struct window *window, struct report *report, struct spec *spec)
{
	int error = guest_unpack(window, CELL_FILE, CELL_FOLDER);

	if (error)
		return report_failure(report, "no cell came through fw_cfg", error);
	hypercall_mark(MARK_CELL_IN);
	error = read_spec(report, spec);
	if (error)
		return error;
	error = guest_unpack(window, SUBJECT_FILE, spec->root);
	if (error)
		return report_failure(report, "no subject came through fw_cfg", error);
	for (size_t i = 0; i < spec->images; i++) {
		error = guest_make_image(&spec->image[i]);
		if (error)
			return report_failure(report, spec->image[i].path, error);
	}
	error = guest_show_system_in(spec->root);
	if (error)
		return report_failure(report, "no system folders for the subject", error);
	hypercall_mark(MARK_SUBJECT_IN);
	return 0;
}

int cell_start_subject(struct hazards *hazards, pid_t *subject)
{
	const struct spec *spec = hazards->spec;
	const struct program program = {
		.words = &spec->subject,
		.root = spec->root,
		.output = CELL_OUTPUT,
		.file_bytes_max = spec->file_bytes_max,
		.realtime_denied = spec->hazards.realtime_denied,
		.refused = &spec->hazards.refused,
		.few = &spec->hazards.few,
		.uptime_ns = spec->hazards.uptime_ns,
		.tsc_mhz = spec->hazards.tsc_mhz,
		.anywhere = spec->movement.anywhere,
	};
	int error;

	hazards_subject_starts(hazards);
	report_moment(hazards->report, "subject_start", NULL, 0);
	error = process_start(subject, &program);
	return error ? error : hazards_subject_started(hazards, *subject);
}

void cell_subject_accepted(struct hazards *hazards)
{
	struct stat output = {0};

	stat(CELL_OUTPUT, &output);
	hazards_subject_accepted(hazards, (uint64_t)output.st_size);
}

void cell_end_subject(struct hazards *hazards, uint64_t deadline_ns)
{
	struct subject_end end;

	process_reap(hazards->subject, deadline_ns, &end);
	hypercall_mark(MARK_SUBJECT_ENDED);
	report_subject_end(hazards->report, &end);
	hazards_subject_ended(hazards);
}

void cell_send(const struct window *window, const struct spec *spec, struct report *report)
{
	struct parcel parcel;

	if (parcel_open(&parcel, window) < 0)
		return;
	for (size_t i = 0; i < spec->collects; i++) {
		const struct spec_collect *want = &spec->collect[i];
		int error = parcel_add_file(&parcel, want->name, want->path,
			(off_t)want->offset_bytes, want->size_bytes);

		if (error != -ENOENT)
			report_failure(report, want->name, error);
	}
	report_kernel_log(report);
	fflush(report->lines);
	if (parcel_add(&parcel, "agent.jsonl", report->text, report->bytes) == 0)
		parcel_seal(&parcel);
	hypercall_mark(MARK_RESULTS_OUT);
	window_show(window, parcel.used_bytes);
}
