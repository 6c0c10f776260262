/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"
#include "hypercall.h"
#include "process.h"

static const char PARCEL_MAGIC[8] = "FDRPARC1";
#define HEADER_BYTES 24u
#define ENTRY_HEADER_BYTES 16u

int parcel_open(struct parcel *parcel, const struct window *window)
{
	if (window->size_bytes < HEADER_BYTES)
		return -EINVAL;
	memset(window->bytes, 0, HEADER_BYTES);
	*parcel = (struct parcel){.window = window->bytes,
		.capacity_bytes = window->size_bytes,
		.used_bytes = HEADER_BYTES};
	return 0;
}

static uint8_t *reserve(struct parcel *parcel, const char *name, size_t bytes)
{
	uint64_t lengths[2] = {strlen(name), bytes};
	size_t before = ENTRY_HEADER_BYTES + lengths[0];
	size_t left = parcel->capacity_bytes - parcel->used_bytes;
	uint8_t *at = parcel->window + parcel->used_bytes;

	if (before > left || bytes > left - before)
		return NULL;
	memcpy(at, lengths, sizeof(lengths));
	memcpy(at + sizeof(lengths), name, lengths[0]);
	return at + before;
}

static void commit(struct parcel *parcel, const uint8_t *content, size_t bytes)
{
	parcel->used_bytes = (size_t)(content - parcel->window) + bytes;
	parcel->entries++;
}

int parcel_add(struct parcel *parcel, const char *name, const void *content, size_t bytes)
{
	uint8_t *to = reserve(parcel, name, bytes);

	if (!to)
		return -ENOSPC;
	memcpy(to, content, bytes);
	commit(parcel, to, bytes);
	return 0;
}

static int read_all(int file, uint8_t *to, off_t offset, size_t bytes)
{
	while (bytes > 0) {
		ssize_t got = pread(file, to, bytes, offset);

		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO;
		to += got;
		offset += got;
		bytes -= (size_t)got;
	}
	return 0;
}

int parcel_add_file(
	struct parcel *parcel, const char *name, const char *path, off_t offset, size_t bytes)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	uint8_t *to = NULL;
	int error;

	if (file < 0)
		return -errno;
	error = fstat(file, &status) < 0 ? -errno : 0;
	if (!error && bytes == 0)
		bytes = offset < status.st_size ? (size_t)(status.st_size - offset) : 0;
	if (!error) {
		to = reserve(parcel, name, bytes);
		error = to ? read_all(file, to, offset, bytes) : -ENOSPC;
	}
	close(file);
	if (!error)
		commit(parcel, to, bytes);
	return error;
}

void parcel_seal(struct parcel *parcel)
{
	uint64_t counts[2] = {parcel->used_bytes, parcel->entries};

	memcpy(parcel->window + sizeof(PARCEL_MAGIC), counts, sizeof(counts));
	memcpy(parcel->window, PARCEL_MAGIC, sizeof(PARCEL_MAGIC));
}

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
