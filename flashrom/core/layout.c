/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "text.h"

#define BLANKS " \t\r\n"

/* The line of the layout file that is being read, for messages. */
struct place {
	const char *file;
	size_t line;
	const struct log *log;
};

static int report(const struct place *place, const char *cause, const char *word)
{
	log_error(place->log,
		"%s:%zu: %s \"%s\". A line reads START:END NAME, like "
		"\"000000:00ffff boot\".\n",
		place->file, place->line, cause, word);
	return -EINVAL;
}

static int parse_address(const struct place *place, const char *text, uint32_t *out)
{
	if (text_to_u32(text, 16, out))
		return 0;
	return report(place, "not a hexadecimal address:", text);
}

/* END is the last address. A region that ends at ffffffffh is refused: out->end cannot hold it. */
static int parse_range(const struct place *place, char *text, struct range *out)
{
	char *colon = strchr(text, ':');
	uint32_t last;
	int error;

	if (colon == NULL)
		return report(place, "no colon in", text);
	*colon = '\0';
	error = parse_address(place, text, &out->start);
	if (error == 0)
		error = parse_address(place, colon + 1, &last);
	if (error != 0)
		return error;
	if (last < out->start || last == UINT32_MAX)
		return report(place, "region ends before it starts, or is too large:", colon + 1);
	out->end = last + 1;
	return 0;
}

static int parse_line(const struct place *place, char *line, struct layout *layout)
{
	char *rest = NULL;
	char *addresses, *name, *surplus;
	struct range range;
	int error;

	line[strcspn(line, "#")] = '\0';
	addresses = strtok_r(line, BLANKS, &rest);
	if (addresses == NULL)
		return 0;
	name = strtok_r(NULL, BLANKS, &rest);
	if (name == NULL)
		return report(place, "no name after", addresses);
	surplus = strtok_r(NULL, BLANKS, &rest);
	if (surplus != NULL)
		return report(place, "too many words, first one too many:", surplus);
	if (layout_find(layout, name) != NULL)
		return report(place, "a second region called", name);
	error = parse_range(place, addresses, &range);
	return error != 0 ? error : layout_add(layout, name, range);
}

static int report_unread(const struct place *place, int error)
{
	if (error != ENOMEM)
		log_error(place->log, "Cannot read %s: %s.\n", place->file, strerror(error));
	return -error;
}

static int report_no_memory(const struct log *log)
{
	log_error(log, "Out of memory for the layout.\n");
	return -ENOMEM;
}

int layout_parse(FILE *file, const char *name, const struct log *log, struct layout *out)
{
	struct place place = {.file = name, .log = log};
	struct layout layout = {0};
	char *line = NULL;
	size_t room = 0;
	int error = 0;

	while (error == 0 && getline(&line, &room, file) >= 0) {
		place.line++;
		error = parse_line(&place, line, &layout);
	}
	if (error == 0 && !feof(file))
		error = report_unread(&place, errno);
	free(line);
	if (error != 0) {
		layout_deinit(&layout);
		return error == -ENOMEM ? report_no_memory(log) : error;
	}
	*out = layout;
	return 0;
}

int layout_add(struct layout *layout, const char *name, struct range range)
{
	struct layout_region *grown =
		realloc(layout->regions, (layout->count + 1) * sizeof(*layout->regions));
	char *copy;

	if (grown == NULL)
		return -ENOMEM;
	layout->regions = grown;
	copy = strdup(name);
	if (copy == NULL)
		return -ENOMEM;
	grown[layout->count++] = (struct layout_region){.name = copy, .range = range};
	return 0;
}

struct layout_region *layout_find(const struct layout *layout, const char *name)
{
	for (size_t i = 0; i < layout->count; i++) {
		if (strcmp(layout->regions[i].name, name) == 0)
			return &layout->regions[i];
	}
	return NULL;
}

const char *layout_name_nearest(const struct layout *layout, const char *name)
{
	struct nearest nearest = {.wanted = name};

	for (size_t i = 0; i < layout->count; i++)
		nearest_offer(&nearest, layout->regions[i].name);
	return nearest_found(&nearest);
}

static int check_region(
	const struct layout_region *region, uint32_t size_bytes, const struct log *log)
{
	if (region->range.end <= size_bytes)
		return 0;
	log_error(log,
		"Region \"%s\" of the layout ends at 0x%06" PRIx32
		", beyond the chip's 0x%06" PRIx32 " bytes.\n",
		region->name, region->range.end - 1, size_bytes);
	return -ERANGE;
}

static int collect(const struct layout *layout, uint32_t size_bytes, const struct log *log,
	struct range *ranges, size_t *count)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct layout_region *region = &layout->regions[i];
		int error;

		if (!region->included)
			continue;
		error = check_region(region, size_bytes, log);
		if (error != 0)
			return error;
		ranges[(*count)++] = region->range;
	}
	return 0;
}

int layout_ranges(const struct layout *layout, uint32_t size_bytes, const struct log *log,
	struct range **ranges, size_t *count)
{
	struct range *found = calloc(layout->count + 1, sizeof(*found));
	size_t found_count = 0;
	int error;

	if (found == NULL)
		return report_no_memory(log);
	error = collect(layout, size_bytes, log, found, &found_count);
	if (error != 0) {
		free(found);
		return error;
	}
	*ranges = found;
	*count = ranges_join(found, found_count);
	return 0;
}

void layout_deinit(struct layout *layout)
{
	for (size_t i = 0; i < layout->count; i++)
		free(layout->regions[i].name);
	free(layout->regions);
	*layout = (struct layout){0};
}
