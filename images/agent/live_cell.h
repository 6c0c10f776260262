/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One cell in a guest of real time, whose emulator is on the host. */
#ifndef AGENT_LIVE_CELL_H
#define AGENT_LIVE_CELL_H

#include "report.h"
#include "spec.h"
#include "window.h"

/* Runs what the host sent, and tells it over `channel`. Whatever fails is in the report. */
void live_cell_run(
	const struct window *window, int channel, struct report *report, struct spec *spec);

#endif
