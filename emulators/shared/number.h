/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of options, commands and files. */
#ifndef TEXT_NUMBER_H
#define TEXT_NUMBER_H

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
 * A number at the begin of @text, of no more than @max; @end points behind it. @base as for
 * strtoull(3), which would also take blanks and signs, and turn -1 into the largest number.
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

/* The same of a text that is nothing else, and no less than @min. */
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
