// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "spec.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool take_long(const char *value, unsigned long *number)
{
	char *end;
	unsigned long parsed;

	/* A digit first: strtoul() would take spaces and signs, and turn -1 into the largest. */
	if (!value || !isdigit((unsigned char)value[0]))
		return false;
	errno = 0;
	parsed = strtoul(value, &end, 10);
	if (errno || *end != '\0')
		return false;
	*number = parsed;
	return true;
}

static bool take_number(const char *value, unsigned int *number)
{
	unsigned long parsed;

	if (!take_long(value, &parsed) || parsed > UINT_MAX)
		return false;
	*number = (unsigned int)parsed;
	return true;
}

static bool take_image(char *value, struct spec *spec)
{
	struct spec_image *image = &spec->image[spec->images];
	char *rest = value;

	if (spec->images == SPEC_FILES_MAX)
		return false;
	spec->images++;
	image->path = strsep(&rest, " ");
	return take_long(strsep(&rest, " "), &image->size_bytes) &&
	       take_long(strsep(&rest, " "), &image->offset_bytes) &&
	       (image->from = strsep(&rest, " ")) != NULL && rest == NULL;
}

static bool take_collect(char *value, struct spec *spec)
{
	struct spec_collect *collect = &spec->collect[spec->collects];
	char *rest = value;

	if (spec->collects == SPEC_FILES_MAX)
		return false;
	spec->collects++;
	collect->name = strsep(&rest, " ");
	collect->path = strsep(&rest, " ");
	return collect->path && take_long(strsep(&rest, " "), &collect->offset_bytes) &&
	       take_long(strsep(&rest, " "), &collect->size_bytes) && rest == NULL;
}

static bool take_word(char *value, struct spec_words *words)
{
	if (words->count == SPEC_WORDS_MAX)
		return false;
	words->word[words->count++] = value;
	return true;
}

static bool take_path(char *value, char **path)
{
	*path = value;
	return value[0] == '/';
}

static bool take_line(const char *key, char *value, struct spec *spec)
{
	if (strcmp(key, "settle_ms") == 0)
		return take_number(value, &spec->settle_ms);
	if (strcmp(key, "deadline_ms") == 0)
		return take_number(value, &spec->deadline_ms);
	if (strcmp(key, "siblings") == 0)
		return take_number(value, &spec->siblings);
	if (strcmp(key, "stops_hz") == 0)
		return take_number(value, &spec->stops_hz);
	if (strcmp(key, "emulator") == 0)
		return take_word(value, &spec->emulator);
	if (strcmp(key, "subject") == 0)
		return take_word(value, &spec->subject);
	if (strcmp(key, "image") == 0)
		return take_image(value, spec);
	if (strcmp(key, "collect") == 0)
		return take_collect(value, spec);
	if (strcmp(key, "bridge") == 0)
		return take_word(value, &spec->bridge);
	if (strcmp(key, "bridge_root") == 0)
		return take_path(value, &spec->bridge_root);
	if (strcmp(key, "bridge_makes") == 0)
		return take_path(value, &spec->bridge_makes);
	if (strcmp(key, "root") == 0)
		return take_path(value, &spec->root);
	return false;
}

size_t spec_parse(char *text, struct spec *spec)
{
	size_t number = 0;

	memset(spec, 0, sizeof(*spec));
	for (char *line = text; *line != '\0';) {
		char *end = strchr(line, '\n');
		char *value = strchr(line, ' ');

		number++;
		if (!end || !value || value > end)
			return number;
		*end = '\0';
		*value++ = '\0';
		if (number == 1 ? strcmp(line, "schema") != 0 || strcmp(value, "1") != 0
				: !take_line(line, value, spec))
			return number;
		line = end + 1;
	}
	if (spec->bridge.count && (!spec->bridge_root || !spec->bridge_makes))
		return number + 1;
	if (!spec->root || !spec->emulator.count || !spec->subject.count || !spec->deadline_ms)
		return number + 1;
	return 0;
}
