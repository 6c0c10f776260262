/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One chip after another, as the machine that it is in is paused and goes on: a cell's settings in,
 * its events and its content out, as files.
 */
#ifndef EMULATORS_PROGRAMMERS_SESSION_H
#define EMULATORS_PROGRAMMERS_SESSION_H

#include "settings.h"

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
