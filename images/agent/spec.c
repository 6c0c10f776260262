// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "spec.h"
#include "wall_clock.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)
#define HZ_MAX 1000

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

static bool take_switch(const char *value, bool *on)
{
	*on = strcmp(value, "1") == 0;
	return *on;
}

/* One of two words; `second` tells which. */
static bool take_choice(const char *value, const char *const words[2], bool *second)
{
	*second = value && strcmp(value, words[1]) == 0;
	return value && (*second || strcmp(value, words[0]) == 0);
}

static bool take_ms(const char *value, uint64_t *ns)
{
	unsigned int ms;

	if (!take_number(value, &ms))
		return false;
	*ns = ms * NS_PER_MS;
	return true;
}

static bool take_window(char *value, struct schedule *schedule)
{
	struct schedule_window *window = &schedule->window[schedule->count];
	char *rest = value;

	if (schedule->count == SCHEDULE_WINDOWS_MAX)
		return false;
	schedule->count++;
	return take_ms(strsep(&rest, " "), &window->from_ns) &&
	       take_ms(strsep(&rest, " "), &window->to_ns) && rest == NULL &&
	       window->from_ns < window->to_ns;
}

static bool take_wall_step(char *value, struct spec_hazards *hazards)
{
	bool back = value[0] == '-';
	char *rest = value + (back ? 1 : 0);
	unsigned int step_s;

	if (!take_number(strsep(&rest, " "), &step_s) || step_s == 0)
		return false;
	hazards->wall_step_s = back ? -(int64_t)step_s : step_s;
	return take_number(rest, &hazards->wall_step_every_ms) && hazards->wall_step_every_ms > 0;
}

static bool take_leap(char *value, struct spec_hazards *hazards)
{
	char *rest = value;
	bool delete;

	if (!take_choice(strsep(&rest, " "), (const char *const[]){"insert", "delete"}, &delete))
		return false;
	hazards->leap = delete ? SPEC_LEAP_DELETE : SPEC_LEAP_INSERT;
	return take_number(rest, &hazards->leap_after_ms) &&
	       hazards->leap_after_ms <= WALL_CLOCK_LEAP_AHEAD_MS;
}

static bool take_hazard(const char *key, char *value, struct spec_hazards *hazards)
{
	if (strcmp(key, "siblings") == 0)
		return take_number(value, &hazards->siblings);
	if (strcmp(key, "siblings_from") == 0)
		return take_choice(value, (const char *const[]){"start", "accept"},
			&hazards->siblings_from_accept);
	if (strcmp(key, "siblings_window") == 0)
		return take_window(value, &hazards->siblings_schedule);
	if (strcmp(key, "siblings_period_ms") == 0)
		return take_ms(value, &hazards->siblings_schedule.period_ns);
	if (strcmp(key, "hogs") == 0)
		return take_number(value, &hazards->hogs);
	if (strcmp(key, "hogs_each") == 0)
		return take_number(value, &hazards->hogs_each);
	if (strcmp(key, "memory_pressure") == 0)
		return take_switch(value, &hazards->memory_pressure);
	if (strcmp(key, "realtime_denied") == 0)
		return take_switch(value, &hazards->realtime_denied);
	if (strcmp(key, "rt_runtime_us") == 0)
		return take_number(value, &hazards->rt_runtime_us);
	if (strcmp(key, "wall_step") == 0)
		return take_wall_step(value, hazards);
	if (strcmp(key, "leap") == 0)
		return take_leap(value, hazards);
	return false;
}

static bool take_move(char *value, struct spec_movement *movement)
{
	char *rest = value;

	movement->moves = true;
	return take_choice(strsep(&rest, " "), (const char *const[]){"start", "accept"},
		       &movement->move_from_accept) &&
	       take_number(strsep(&rest, " "), &movement->move_after_ms) &&
	       take_number(rest, &movement->move_to_core);
}

/* A rate, and the seed of what is drawn. */
static bool take_draws(char *value, unsigned int *hz, unsigned long *seed)
{
	char *rest = value;

	return take_number(strsep(&rest, " "), hz) && *hz > 0 && *hz <= HZ_MAX &&
	       take_long(rest, seed);
}

static bool take_movement(const char *key, char *value, struct spec_movement *movement)
{
	if (strcmp(key, "move") == 0)
		return take_move(value, movement);
	if (strcmp(key, "migrate") == 0)
		return take_draws(value, &movement->migrate_hz, &movement->migrate_seed);
	if (strcmp(key, "hotplug") == 0)
		return take_draws(value, &movement->hotplug_hz, &movement->hotplug_seed);
	if (strcmp(key, "anywhere") == 0)
		return take_switch(value, &movement->anywhere);
	return false;
}

static bool take_line(const char *key, char *value, struct spec *spec)
{
	if (strcmp(key, "settle_ms") == 0)
		return take_number(value, &spec->settle_ms);
	if (strcmp(key, "deadline_ms") == 0)
		return take_number(value, &spec->deadline_ms);
	if (strcmp(key, "file_bytes_max") == 0)
		return take_long(value, &spec->file_bytes_max) && spec->file_bytes_max > 0;
	if (strcmp(key, "stops_hz") == 0)
		return take_number(value, &spec->stops_hz);
	if (strcmp(key, "emulator_outside") == 0)
		return take_switch(value, &spec->emulator_outside);
	if (strcmp(key, "rehearsal") == 0)
		return take_word(value, &spec->rehearsal);
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
	return take_movement(key, value, &spec->movement) ||
	       take_hazard(key, value, &spec->hazards);
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
	if (!spec->root || !spec->subject.count || !spec->deadline_ms)
		return number + 1;
	if (spec->emulator_outside == (spec->emulator.count > 0))
		return number + 1;
	return 0;
}

bool spec_parse_words(char *text, struct spec_words *words)
{
	memset(words, 0, sizeof(*words));
	while (*text != '\0') {
		char *end = strchr(text, '\n');

		if (!end)
			return false;
		*end = '\0';
		if (!take_word(text, words))
			return false;
		text = end + 1;
	}
	return words->count > 0;
}
