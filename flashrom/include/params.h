/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PARAMS_H
#define PARAMS_H

#include "log.h"

/** A key that a programmer takes after `-p NAME:`, and where its value goes. */
struct param {
	const char *key;
	const char **value; /* stays as it is if the key is not given */
};

/**
 * Take "key=value,key=value" apart in place. `params` ends with a NULL key, `programmer` is for
 * messages. 0, or -EINVAL (unknown key, no value, given twice) with the cause logged.
 */
int params_parse(
	char *text, const char *programmer, const struct param *params, const struct log *log);

#endif
