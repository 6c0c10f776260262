/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chips of one machine, one for each cell. When the machine resumes, the settings of the cell
 * are read from a file. When it is paused, the events and the content of the chip are written to
 * files.
 */
#ifndef EMULATORS_PROGRAMMERS_SESSION_H
#define EMULATORS_PROGRAMMERS_SESSION_H

#include "front.h"

/*
 * The settings of the chip in QEMU: lines KEY=VALUE, made by the rig for each cell
 * (rig/delayrig/machine/plugins.py).
 */
#define SETTINGS_ERROR_BYTES 192

/* Strings point into the parsed text. */
struct settings {
	uint64_t cell; /* a different number for each cell of a QEMU; 0: there is no chip */
	struct bus_options bus;
	const char *image_in;
	uint64_t image_offset;
	const char *image_out_sparse;
	const char *events;
};

/*
 * Parses @text in place. An empty text means no chip. Returns -EINVAL if a line is wrong or
 * missing; @error (SETTINGS_ERROR_BYTES) says which.
 */
int settings_parse(char *text, struct settings *settings, char *error);

struct session {
	const struct front *front;
	const char *settings_path;
	struct settings settings;
	char *text; /* the text that the settings point into */
	struct bus bus;
	void *memory; /* the memory of the chip; NULL: there is none */
	size_t memory_bytes;
	uint64_t start_ns; /* when the machine resumed to begin the cell */
};

/* Returns NULL if the cell has no chip. */
struct bus *session_bus(struct session *session);

/*
 * Must be called when the machine resumes at @now_ns. If the settings are now those of another
 * cell, the chip of that cell replaces the last one. Returns a negative errno on failure; stderr
 * says what is wrong.
 */
int session_resume(struct session *session, uint64_t now_ns);

/*
 * Writes the events so far and the content. Must be called when the machine is paused. Returns as
 * session_resume() does.
 */
int session_pause(struct session *session, uint64_t now_ns);

void session_deinit(struct session *session);

#endif
