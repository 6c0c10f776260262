/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The common parts of cells of both agents, from the archive of the host to the results. */
#ifndef AGENT_CELL_H
#define AGENT_CELL_H

#include "hazards.h"
#include "report.h"
#include "spec.h"
#include "window.h"

#define CELL_FOLDER "/cell"
#define CELL_OUTPUT CELL_FOLDER "/stdout.txt"

/*
 * Unpacks what the host sent, reads its spec and makes the files that it asks for. 0 or a negative
 * errno, with the reason in the report.
 */
int cell_take_in(const struct window *window, struct report *report, struct spec *spec);

/* Starts the subject, and what happens to it from then on; 0 or a negative errno. */
int cell_start_subject(struct hazards *hazards, pid_t *subject);

/* The emulator has accepted the subject, and holds it until this returns. */
void cell_subject_accepted(struct hazards *hazards);

/* Waits for its end, at the deadline at the latest, and reports it. */
void cell_end_subject(struct hazards *hazards, uint64_t deadline_ns);

/* Leaves the files that the spec asks for, and the report, in the window. */
void cell_send(const struct window *window, const struct spec *spec, struct report *report);

#endif
