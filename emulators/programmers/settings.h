/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The settings of the chip in QEMU: lines KEY=VALUE, made by the rig for each cell
 * (rig/delayrig/machine/chip_in_qemu.py). Pure: a text in, values out.
 */
#ifndef EMULATORS_PROGRAMMERS_SETTINGS_H
#define EMULATORS_PROGRAMMERS_SETTINGS_H

#include "bus.h"

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

#endif
