/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses numbers of options, commands and files. */
#ifndef EMULATORS_SHARED_NUMBER_H
#define EMULATORS_SHARED_NUMBER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static inline bool is_digit_of(char c, int base)
{
	if (c >= '0' && c <= '9')
		return true;
	return base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
}

/*
 * Reads a number of @max or less at the beginning of @text; @end points behind it. Returns false
 * for any other text. @base is that of strtoull(3). Unlike strtoull(3), this accepts no blanks and
 * no sign in front.
 */
static inline bool number_begins(
	const char *text, int base, uint64_t max, const char **end, uint64_t *number)
{
	unsigned long long value;
	char *stop;

	if (!is_digit_of(*text, base))
		return false;
	errno = 0;
	value = strtoull(text, &stop, base);
	if (errno != 0 || value > max)
		return false;
	*end = stop;
	*number = value;
	return true;
}

/* Reads a text that consists of a number from @min to @max only. */
static inline bool number_parse(
	const char *text, int base, uint64_t min, uint64_t max, uint64_t *number)
{
	const char *end;
	uint64_t value;

	if (!number_begins(text, base, max, &end, &value) || *end != '\0' || value < min)
		return false;
	*number = value;
	return true;
}

#endif
