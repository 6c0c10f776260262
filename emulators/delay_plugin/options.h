/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plugin's arguments: `KEY=VALUE`, each once and all of them. Pure. */
#ifndef EMULATORS_DELAYS_OPTIONS_H
#define EMULATORS_DELAYS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "machine.h"

#define OPTIONS_ERROR_BYTES 160

/* Texts are those of the arguments, and live as long. */
struct options {
	const struct machine *machine;
	const char *clock;
	bool is_virtual; /* time is QEMU's count of instructions; else this machine's clock */
	const char *request;
	const char *out;
};

/* -EINVAL: @error (OPTIONS_ERROR_BYTES) says what is wrong with which one. */
int options_parse(int count, char *const *words, struct options *options, char *error);

#endif
