/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One chip after another, as the machine that it is in is paused and goes on: a cell's settings in,
 * its events and its content out, as files.
 */
#ifndef EMULATORS_PROGRAMMERS_SESSION_H
#define EMULATORS_PROGRAMMERS_SESSION_H

#include "bus.h"

/*
 * The settings of the chip in QEMU: lines KEY=VALUE, made by the rig for each cell
 * (rig/delayrig/machine/chip_in_qemu.py).
 */
#define SETTINGS_ERROR_BYTES 192

/* Texts are those of the lines, and live as long. */
struct settings {
	uint64_t cell; /* another number for each cell of a QEMU; 0: there is no chip */
	struct bus_options bus;
	const char *image_in;
	uint64_t image_offset;
	const char *image_out_sparse;
	const char *events;
};

/*
 * Takes @text apart in place. An empty one is no chip. -EINVAL: @error (SETTINGS_ERROR_BYTES) says
 * what is wrong with which line.
 */
int settings_parse(char *text, struct settings *settings, char *error);

struct session {
	const char *settings_path;
	struct settings settings;
	char *text; /* the text that the settings point into */
	struct bus bus;
	void *memory; /* the memory of the chip; NULL: there is none */
	size_t memory_bytes;
	uint64_t start_ns; /* when the machine went on to where the cell begins */
};

/* NULL where the cell has no chip. */
struct bus *session_bus(struct session *session);

/*
 * The machine goes on at @now_ns. Where the settings are another cell's by now, its chip takes the
 * place of the one before. A negative errno: stderr says what is wrong.
 */
int session_resume(struct session *session, uint64_t now_ns);

/* The machine is paused: what happened so far is written out. A negative errno, as above. */
int session_pause(struct session *session, uint64_t now_ns);

void session_deinit(struct session *session);

#endif
