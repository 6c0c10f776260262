/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "power_cut.h"

#include <errno.h>
#include <stddef.h>

#include "text/number.h"

#define PERCENT 100u

/* The end of the digits that @text begins with; NULL: none, or too many. */
static const char *take_number(const char *text, uint64_t max, uint64_t *number)
{
	return number_begins(text, 10, max, &text, number) ? text : NULL;
}

static const char *take_nth(const char *text, struct power_cut *cut)
{
	uint64_t nth;

	text = take_number(text, UINT32_MAX, &nth);
	if (!text || nth == 0)
		return NULL;
	cut->nth = (uint32_t)nth;
	return text;
}

static const char *take_after(const char *text, struct power_cut *cut)
{
	text = take_number(text, UINT64_MAX, &cut->after);
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
		text = take_number(text + 1, UINT64_MAX, &parsed.off_ns);
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
