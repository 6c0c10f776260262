// SPDX-License-Identifier: GPL-2.0-or-later
#include "series.h"
#include "clock.h"

#include <stdlib.h>

#include "shared/arguments.h"

#define REQUEST_NS_MAX (100 * NS_PER_S)
#define LIMIT_MS_MAX 3600000
#define FIFO_PRIORITY_MAX 99
#define CPU_MAX 4095
#define HOLD_US_MAX 1000000

static const char *const kinds[] = {
	[SERIES_FACTS] = "facts",
	[SERIES_AUDIT] = "audit",
	[SERIES_WAIT] = "wait",
	[SERIES_SWEEP] = "sweep",
	[SERIES_PERIODS] = "periods",
	[SERIES_TICKS] = "ticks",
};

static int parse_wait(const char *text, void *field)
{
	const struct wait *wait = wait_find(text);

	*(const struct wait **)field = wait;
	return wait ? 0 : -EINVAL;
}

#define FIELD(name_) ARGUMENT(struct series, name_)

static const struct argument arguments[] = {
	{FIELD(wait), .parse = parse_wait},
	{FIELD(request_ns), .max = REQUEST_NS_MAX},
	{FIELD(from_ns), .max = REQUEST_NS_MAX},
	{FIELD(to_ns), .max = REQUEST_NS_MAX},
	{FIELD(step_ns), .max = REQUEST_NS_MAX},
	{FIELD(count), .max = SERIES_COUNT_MAX},
	{FIELD(limit_ms), .max = LIMIT_MS_MAX},
	{.name = "fifo",
		.offset = offsetof(struct series, fifo_priority),
		.max = FIFO_PRIORITY_MAX},
	{FIELD(slack_ns), .max = NS_PER_S},
	{FIELD(cpu), .max = CPU_MAX},
	{FIELD(eaters), .max = SERIES_EATERS_MAX},
	{FIELD(hold_us), .max = HOLD_US_MAX},
};

static int take_kind(const char *name, struct series *out)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(name, kinds[i]) == 0) {
			out->kind = (enum series_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Returns true if the series has all arguments that its kind needs, and not too many readings. */
static bool is_complete(const struct series *series)
{
	switch (series->kind) {
	case SERIES_FACTS:
	case SERIES_AUDIT:
		return true;
	case SERIES_WAIT:
		return series->wait && series->count > 0;
	case SERIES_SWEEP:
		return series->wait && series->step_ns > 0 && series->to_ns >= series->from_ns &&
		       (series->to_ns - series->from_ns) / series->step_ns < SERIES_COUNT_MAX;
	case SERIES_PERIODS:
		return series->request_ns > 0 && series->count > 0;
	case SERIES_TICKS:
		return series->request_ns > 0 && series->cpu >= 0;
	}
	return false;
}

int series_parse(const char *text, struct series *out)
{
	char *word = strdup(text);
	char *pairs = word;
	const char *wants;
	uint64_t seen = 0;
	int error;

	if (!word)
		return -ENOMEM;
	*out = (struct series){.cpu = -1, .hold_us = -1};
	error = take_kind(strsep(&pairs, ":"), out);
	while (!error && pairs)
		error = argument_take(arguments, sizeof(arguments) / sizeof(arguments[0]),
			strsep(&pairs, ","), out, &seen, &wants);
	free(word);
	return error || !is_complete(out) ? -EINVAL : 0;
}
