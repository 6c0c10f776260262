/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PARAMS_H
#define PARAMS_H

#include "log.h"

/** A key that a programmer accepts after `-p NAME:`, and the variable for its value. */
struct param {
	const char *key;
	const char **value; /* stays as it is if the key is not given */
};

/**
 * Splits "key=value,key=value" in place. `params` ends with a NULL key, `programmer` is for
 * messages. Returns 0, or -EINVAL (unknown key, no value, given twice) with the cause logged.
 */
int params_parse(
	char *text, const char *programmer, const struct param *params, const struct log *log);

#endif
