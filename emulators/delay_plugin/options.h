/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's arguments: `KEY=VALUE`, each exactly once. Pure. */
#ifndef EMULATORS_DELAY_PLUGIN_OPTIONS_H
#define EMULATORS_DELAY_PLUGIN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "machine.h"

#define OPTIONS_ERROR_BYTES 160

/* The strings point into the arguments, which must stay valid. */
struct options {
	const struct machine *machine;
	const char *clock;
	bool is_virtual; /* the clock is QEMU's virtual clock, otherwise CLOCK_MONOTONIC */
	const char *request;
	const char *out;
};

/* Returns 0, or -EINVAL with the bad argument and the reason in @error (OPTIONS_ERROR_BYTES). */
int options_parse(int count, char *const *words, struct options *options, char *error);

#endif
