/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One cell, from the archive of the host to the end of emulator and subject. */
#ifndef AGENT_CELL_H
#define AGENT_CELL_H

#include "parcel.h"
#include "process.h"
#include "report.h"
#include "spec.h"
#include "window.h"

/*
 * Brings the emulator to where it waits for its chip, with the words that the image has for it.
 * 0 or a negative errno.
 */
int cell_prepare_emulator(struct emulator *emulator);

/*
 * Unpacks what the host sent, reads its spec and makes the files that it asks for. 0 or a negative
 * errno, with the reason in the report.
 */
int cell_take_in(const struct window *window, struct report *report, struct spec *spec);

/* Runs what the host sent. Whatever fails is in the report, and `spec` holds what was read. */
void cell_run(const struct window *window, struct emulator *emulator, struct report *report,
	struct spec *spec);

/* Puts the files that the spec asks for, and the report, into the parcel. */
void cell_send(struct parcel *parcel, const struct spec *spec, struct report *report);

#endif
