/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of a cell that all agents share, from the host's archive to the results. */
#ifndef AGENT_CELL_H
#define AGENT_CELL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hazards.h"
#include "report.h"
#include "spec.h"
#include "window.h"

#define CELL_FOLDER "/cell"
#define CELL_OUTPUT CELL_FOLDER "/stdout.txt"

/*
 * Unpacks the cell and the subject, parses the spec, and makes its images. Returns 0, or a negative
 * errno with the reason in the report.
 */
int cell_take_in(const struct window *window, struct report *report, struct spec *spec);

/* Starts the subject and its hazards. Returns 0 or a negative errno. */
int cell_start_subject(struct hazards *hazards, pid_t *subject);

/* Runs the hazards that are due when the emulator has accepted the subject. */
void cell_subject_accepted(struct hazards *hazards);

/* Waits for the subject's end, kills it at the deadline, and reports the end. */
void cell_end_subject(struct hazards *hazards, uint64_t deadline_ns);

/* Writes the files that the spec collects, and the report, into the window. */
void cell_send(const struct window *window, const struct spec *spec, struct report *report);

/*
 * The way back to the host: named byte strings in the window, which the host reads while the
 * machine is paused.
 *
 * Layout, little-endian: magic "FDRPARC1", u64 bytes used in all, u64 entries; then per entry
 * u64 length of name, u64 length of content, name, content.
 */

struct parcel {
	uint8_t *window;
	size_t capacity_bytes;
	size_t used_bytes;
	uint64_t entries;
};

/* Begins an empty parcel in place of the window's content. -EINVAL: the window is too small. */
int parcel_open(struct parcel *parcel, const struct window *window);

/* Adds one entry. Returns 0, or -ENOSPC with the parcel unchanged. */
int parcel_add(struct parcel *parcel, const char *name, const void *content, size_t bytes);

/*
 * Adds `bytes` bytes of the file `path` from `offset` on; 0 stands for all up to the file's end.
 * Returns 0, -ENOSPC, -EIO if the file is shorter, or another negative errno.
 */
int parcel_add_file(
	struct parcel *parcel, const char *name, const char *path, off_t offset, size_t bytes);

/* Completes the parcel. The header comes last, so an incomplete parcel has no magic. */
void parcel_seal(struct parcel *parcel);

#endif
