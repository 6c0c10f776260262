/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a cell that all agents share, from the host's archive to the results. */
#ifndef AGENT_CELL_H
#define AGENT_CELL_H

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

/* Runs the hazards of the moment at which the emulator has accepted the subject. */
void cell_subject_accepted(struct hazards *hazards);

/* Waits for the subject's end, kills it at the deadline, and reports the end. */
void cell_end_subject(struct hazards *hazards, uint64_t deadline_ns);

/* Puts the files that the spec collects, and the report, into the window. */
void cell_send(const struct window *window, const struct spec *spec, struct report *report);

#endif
