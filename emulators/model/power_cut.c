/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "power_cut.h"

#include <errno.h>
#include <stddef.h>

#define PERCENT 100u

/* The end of the digits that @text begins with; NULL: none, or too many. */
static const char *take_number(const char *text, uint64_t *number)
{
	uint64_t value = 0;

	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return NULL;
		value = value * 10 + digit;
	}
	*number = value;
	return text;
}

static const char *take_nth(const char *text, struct power_cut *cut)
{
	uint64_t nth;

	text = take_number(text, &nth);
	if (!text || nth == 0 || nth > UINT32_MAX)
		return NULL;
	cut->nth = (uint32_t)nth;
	return text;
}

static const char *take_after(const char *text, struct power_cut *cut)
{
	text = take_number(text, &cut->after);
	if (!text)
		return NULL;
	cut->is_percent = *text == '%';
	if (cut->is_percent && cut->after > PERCENT)
		return NULL;
	return cut->is_percent ? text + 1 : text;
}

int power_cut_parse(const char *text, struct power_cut *cut)
{
	struct power_cut parsed = {.is_percent = true, .after = POWER_CUT_PERCENT_DEFAULT};

	text = take_nth(text, &parsed);
	if (text && *text == ',')
		text = take_after(text + 1, &parsed);
	if (text && *text == ',')
		text = take_number(text + 1, &parsed.off_ns);
	if (!text || *text)
		return -EINVAL;
	*cut = parsed;
	return 0;
}

/* Divided first where the product would not fit: no busy time is that long. */
uint64_t power_cut_after_ns(const struct power_cut *cut, uint64_t work_ns)
{
	if (!cut->is_percent)
		return cut->after;
	return work_ns / PERCENT * cut->after + work_ns % PERCENT * cut->after / PERCENT;
}
