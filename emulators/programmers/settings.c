/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session.h"

#include <errno.h>
#include <stdio.h>

#include "shared/arguments.h"

static int parse_part(const char *text, void *field)
{
	const struct part *part = part_find(text);

	*(const struct part **)field = part;
	return part ? 0 : -EINVAL;
}

static int parse_corner(const char *text, void *field)
{
	return corner_parse(text, field);
}

/* Refuses states that begin with the pins: no front knows when power comes to the part. */
static int parse_start_state(const char *text, void *field)
{
	enum start_state state;

	if (start_state_parse(text, &state) < 0 || start_state_moment(state) == START_AT_PINS)
		return -EINVAL;
	*(enum start_state *)field = state;
	return 0;
}

/* Leaves room for the record that is still open at the bound, and the one of giving up. */
#define RECORDS_MAX (EVENTS_COUNT_MAX - 2)

#define FIELD(name_) ARGUMENT(struct settings, name_)
#define BUS_FIELD(name_) .name = #name_, .offset = offsetof(struct settings, bus.name_)

static const struct argument keys[] = {
	{FIELD(cell), .wants = "no number", .min = 1, .max = UINT64_MAX},
	{BUS_FIELD(part), .wants = "no such part", .parse = parse_part},
	{BUS_FIELD(corner), .wants = "no corner", .parse = parse_corner},
	{BUS_FIELD(seed), .wants = "no number", .max = UINT64_MAX},
	{BUS_FIELD(records_max), .wants = "no number", .min = 1, .max = RECORDS_MAX},
	{BUS_FIELD(start_state), .wants = "no such state", .parse = parse_start_state},
	{FIELD(image_in), .wants = "no path", .parse = argument_text},
	{FIELD(image_offset), .wants = "no offset", .max = UINT32_MAX},
	{FIELD(image_out_sparse), .wants = "no path", .parse = argument_text},
	{FIELD(events), .wants = "no path", .parse = argument_text},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))
#define ALL_KEYS ((UINT64_C(1) << KEY_COUNT) - 1)

static int refuse(char *error, const char *what, const char *line)
{
	snprintf(error, SETTINGS_ERROR_BYTES, "%s: %.120s", what, line);
	return -EINVAL;
}

int settings_parse(char *text, struct settings *settings, char *error)
{
	uint64_t seen = 0;
	char *rest = text;
	char *line;

	*settings = (struct settings){0};
	while ((line = strsep(&rest, "\n")) != NULL) {
		const char *wants = "unknown or twice";

		if (*line != '\0' &&
			argument_take(keys, KEY_COUNT, line, settings, &seen, &wants) < 0)
			return refuse(error, wants, line);
	}
	if (seen != 0 && seen != ALL_KEYS)
		return refuse(error, "some keys are missing, the cell is", "incomplete");
	if (settings->bus.part != NULL &&
		!start_state_fits(settings->bus.start_state, settings->bus.part))
		return refuse(error, "a part that is never found so", settings->bus.part->name);
	return 0;
}
