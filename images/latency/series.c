// SPDX-License-Identifier: GPL-2.0-or-later
#include "series.h"
#include "clock.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

static const struct {
	const char *key;
	size_t offset;
	int64_t max;
} numbers[] = {
	{"request_ns", offsetof(struct series, request_ns), REQUEST_NS_MAX},
	{"from_ns", offsetof(struct series, from_ns), REQUEST_NS_MAX},
	{"to_ns", offsetof(struct series, to_ns), REQUEST_NS_MAX},
	{"step_ns", offsetof(struct series, step_ns), REQUEST_NS_MAX},
	{"count", offsetof(struct series, count), SERIES_COUNT_MAX},
	{"limit_ms", offsetof(struct series, limit_ms), LIMIT_MS_MAX},
	{"fifo", offsetof(struct series, fifo_priority), FIFO_PRIORITY_MAX},
	{"slack_ns", offsetof(struct series, slack_ns), NS_PER_S},
	{"cpu", offsetof(struct series, cpu), CPU_MAX},
	{"eaters", offsetof(struct series, eaters), SERIES_EATERS_MAX},
	{"hold_us", offsetof(struct series, hold_us), HOLD_US_MAX},
};

/* A digit first: strtoll() would take spaces and signs. */
static int take_number(const char *text, int64_t max, int64_t *out)
{
	long long value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *end != '\0' || value > max)
		return -EINVAL;
	*out = value;
	return 0;
}

static int take_pair(const char *key, const char *value, struct series *out)
{
	if (strcmp(key, "wait") == 0) {
		out->wait = wait_find(value);
		return out->wait ? 0 : -EINVAL;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(key, numbers[i].key) == 0)
			return take_number(value, numbers[i].max,
				(int64_t *)(void *)((char *)out + numbers[i].offset));
	}
	return -EINVAL;
}

static int take_pairs(char *rest, struct series *out)
{
	int error = 0;

	while (!error && rest) {
		char *key = rest;
		char *comma = strchr(rest, ',');
		char *equals;

		if (comma)
			*comma = '\0';
		rest = comma ? comma + 1 : NULL;
		equals = strchr(key, '=');
		if (!equals)
			return -EINVAL;
		*equals = '\0';
		error = take_pair(key, equals + 1, out);
	}
	return error;
}

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

/* What has an end and room for its readings. */
static bool is_whole(const struct series *series)
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

int series_parse(char *word, struct series *out)
{
	char *colon = strchr(word, ':');
	int error;

	memset(out, 0, sizeof(*out));
	out->cpu = -1;
	out->hold_us = -1;
	if (colon)
		*colon = '\0';
	error = take_kind(word, out);
	if (!error)
		error = take_pairs(colon ? colon + 1 : NULL, out);
	return error || is_whole(out) ? error : -EINVAL;
}
