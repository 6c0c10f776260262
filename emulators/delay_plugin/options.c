/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <stdio.h>

#include "shared/arguments.h"

static int refuse(char *error, const char *what, const char *argument)
{
	snprintf(error, OPTIONS_ERROR_BYTES, "%s: %.120s", what, argument);
	return -EINVAL;
}

static int parse_clock(const char *text, void *field)
{
	if (strcmp(text, "virtual") != 0 && strcmp(text, "monotonic") != 0)
		return -EINVAL;
	return argument_text(text, field);
}

static int parse_machine(const char *text, void *field)
{
	const struct machine *machine = machine_find(text);

	*(const struct machine **)field = machine;
	return machine ? 0 : -EINVAL;
}

#define FIELD(name_) ARGUMENT(struct options, name_)

static const struct argument arguments[] = {
	{FIELD(machine), .wants = "unknown machine", .parse = parse_machine},
	{FIELD(clock), .wants = "clock is virtual or monotonic", .parse = parse_clock},
	{FIELD(request), .wants = "empty", .parse = argument_text},
	{FIELD(out), .wants = "empty", .parse = argument_text},
};

#define ARGUMENT_COUNT (sizeof(arguments) / sizeof(arguments[0]))

int options_parse(int count, char *const *words, struct options *options, char *error)
{
	uint64_t seen = 0;

	*options = (struct options){0};
	for (int i = 0; i < count; i++) {
		const char *wants = "unknown argument, or given twice";

		if (argument_take(arguments, ARGUMENT_COUNT, words[i], options, &seen, &wants) < 0)
			return refuse(error, wants, words[i]);
	}
	if (!options->machine || !options->clock || !options->request || !options->out)
		return refuse(error, "missing argument", "give machine, clock, request and out");
	options->is_virtual = strcmp(options->clock, "virtual") == 0;
	return 0;
}
