/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int refuse(char *error, const char *what, const char *argument)
{
	snprintf(error, OPTIONS_ERROR_BYTES, "%s: %.120s", what, argument);
	return -EINVAL;
}

static int parse_clock(const char *text, const char **clock)
{
	if (strcmp(text, "virtual") != 0 && strcmp(text, "monotonic") != 0)
		return -EINVAL;
	*clock = text;
	return 0;
}

static int parse_machine(const char *text, const struct machine **machine)
{
	*machine = machine_find(text);
	return *machine ? 0 : -EINVAL;
}

/* Points *@value behind the `=` where the argument has that key. */
static bool has_key(const char *argument, const char *key, const char **value)
{
	size_t len = strlen(key);

	*value = argument + len + 1;
	return strncmp(argument, key, len) == 0 && argument[len] == '=' && **value != '\0';
}

static int parse_one(const char *argument, struct options *options, const char **clock, char *error)
{
	const char *value;

	if (has_key(argument, "wish", &value) && !options->wish) {
		options->wish = value;
	} else if (has_key(argument, "out", &value) && !options->out) {
		options->out = value;
	} else if (has_key(argument, "machine", &value) && !options->machine) {
		if (parse_machine(value, &options->machine) < 0)
			return refuse(error, "unknown machine", argument);
	} else if (has_key(argument, "clock", &value) && !*clock) {
		if (parse_clock(value, clock) < 0)
			return refuse(error, "clock is virtual or monotonic", argument);
	} else {
		return refuse(error, "unknown, empty or twice", argument);
	}
	return 0;
}

int options_parse(int count, char *const *arguments, struct options *options, char *error)
{
	const char *clock = NULL;

	*options = (struct options){0};
	for (int i = 0; i < count; i++) {
		if (parse_one(arguments[i], options, &clock, error) < 0)
			return -EINVAL;
	}
	if (!options->machine || !options->wish || !options->out || !clock)
		return refuse(error, "missing, of machine, clock, wish and out", "one");
	options->is_virtual = strcmp(clock, "virtual") == 0;
	return 0;
}
