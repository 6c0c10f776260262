/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spec.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "hypercall.h"
#include "shared/number.h"

static uint64_t phase_ns(const struct schedule *schedule, uint64_t at_ns)
{
	return schedule->period_ns ? at_ns % schedule->period_ns : at_ns;
}

bool schedule_open(const struct schedule *schedule, uint64_t at_ns)
{
	uint64_t phase = phase_ns(schedule, at_ns);

	for (size_t i = 0; i < schedule->count; i++)
		if (schedule->window[i].from_ns <= phase && phase < schedule->window[i].to_ns)
			return true;
	return false;
}

uint64_t schedule_next_edge_ns(const struct schedule *schedule, uint64_t at_ns)
{
	uint64_t phase = phase_ns(schedule, at_ns);
	uint64_t begin_ns = at_ns - phase;

	for (size_t i = 0; i < schedule->count; i++) {
		if (phase < schedule->window[i].from_ns)
			return begin_ns + schedule->window[i].from_ns;
		if (phase < schedule->window[i].to_ns)
			return begin_ns + schedule->window[i].to_ns;
	}
	if (schedule->count == 0 || schedule->period_ns == 0)
		return SCHEDULE_NEVER_NS;
	return begin_ns + schedule->period_ns + schedule->window[0].from_ns;
}

#define HZ_MAX 1000

static bool take(const char *value, uint64_t min, uint64_t max, uint64_t *number)
{
	return value && number_parse(value, 10, min, max, number);
}

/* The functions of the table below: each parses a value into a field. */

static bool take_long(char *value, void *field)
{
	uint64_t number;

	if (!take(value, 0, ULONG_MAX, &number))
		return false;
	*(unsigned long *)field = (unsigned long)number;
	return true;
}

static bool take_size(char *value, void *field)
{
	return take_long(value, field) && *(unsigned long *)field > 0;
}

static bool take_number(char *value, void *field)
{
	uint64_t number;

	if (!take(value, 0, UINT_MAX, &number))
		return false;
	*(unsigned int *)field = (unsigned int)number;
	return true;
}

static bool take_ms(char *value, void *field_ns)
{
	uint64_t ms;

	if (!take(value, 0, UINT_MAX, &ms))
		return false;
	*(uint64_t *)field_ns = ms * NS_PER_MS;
	return true;
}

static bool take_image(char *value, void *whole)
{
	struct spec *spec = whole;
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

static bool take_collect(char *value, void *whole)
{
	struct spec *spec = whole;
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

static bool take_word(char *value, void *field)
{
	struct spec_words *words = field;

	if (words->count == SPEC_WORDS_MAX)
		return false;
	words->word[words->count++] = value;
	return true;
}

static bool take_path(char *value, void *field)
{
	*(char **)field = value;
	return value[0] == '/';
}

static bool take_switch(char *value, void *field)
{
	*(bool *)field = true;
	return strcmp(value, "1") == 0;
}

static bool take_uptime(char *value, void *field)
{
	return number_parse(value, 10, 1, INT64_MAX, field);
}

/* Parses one of two words. */
static bool take_choice(const char *value, const char *first, const char *second, bool *is_second)
{
	*is_second = value && strcmp(value, second) == 0;
	return value && (*is_second || strcmp(value, first) == 0);
}

static bool take_from(char *value, void *from_accept)
{
	return take_choice(value, "start", "accept", from_accept);
}

static bool take_window(char *value, void *field)
{
	struct schedule *schedule = field;
	struct schedule_window *window = &schedule->window[schedule->count];
	char *rest = value;

	if (schedule->count == SCHEDULE_WINDOWS_MAX)
		return false;
	schedule->count++;
	return take_ms(strsep(&rest, " "), &window->from_ns) &&
	       take_ms(strsep(&rest, " "), &window->to_ns) && rest == NULL &&
	       window->from_ns < window->to_ns;
}

static bool take_wall_step(char *value, void *field)
{
	struct spec_hazards *hazards = field;
	bool back = value[0] == '-';
	char *rest = value + (back ? 1 : 0);
	unsigned int step_s;

	if (!take_number(strsep(&rest, " "), &step_s) || step_s == 0)
		return false;
	hazards->wall_step_s = back ? -(int64_t)step_s : step_s;
	return take_number(rest, &hazards->wall_step_every_ms) && hazards->wall_step_every_ms > 0;
}

static bool take_refused(char *value, void *field)
{
	char *rest = value;
	const char *kind = strsep(&rest, " ");

	return refusals_add(field, kind, rest);
}

static bool take_leap(char *value, void *field)
{
	struct spec_hazards *hazards = field;
	char *rest = value;
	bool delete;

	if (!take_choice(strsep(&rest, " "), "insert", "delete", &delete))
		return false;
	hazards->leap = delete ? SPEC_LEAP_DELETE : SPEC_LEAP_INSERT;
	return take_number(rest, &hazards->leap_after_ms) &&
	       hazards->leap_after_ms <= SPEC_LEAP_AHEAD_MS;
}

static bool take_move(char *value, void *field)
{
	struct spec_movement *movement = field;
	char *rest = value;

	movement->moves = true;
	return take_from(strsep(&rest, " "), &movement->move_from_accept) &&
	       take_number(strsep(&rest, " "), &movement->move_after_ms) &&
	       take_number(rest, &movement->move_to_core);
}

static bool take_draws(char *value, void *field)
{
	struct spec_draws *draws = field;
	char *rest = value;

	return take_number(strsep(&rest, " "), &draws->hz) && draws->hz > 0 &&
	       draws->hz <= HZ_MAX && take_long(rest, &draws->seed);
}

#define FIELD(name_) offsetof(struct spec, name_)

static const struct {
	const char *key;
	bool (*take)(char *value, void *field);
	size_t offset;
} keys[] = {
	{"settle_ms", take_number, FIELD(settle_ms)},
	{"deadline_ms", take_number, FIELD(deadline_ms)},
	{"file_bytes_max", take_size, FIELD(file_bytes_max)},
	{"stops_hz", take_number, FIELD(stops_hz)},
	{"emulator_outside", take_switch, FIELD(emulator_outside)},
	{"rehearsal", take_word, FIELD(rehearsal)},
	{"emulator", take_word, FIELD(emulator)},
	{"subject", take_word, FIELD(subject)},
	{"image", take_image, 0},
	{"collect", take_collect, 0},
	{"bridge", take_word, FIELD(bridge)},
	{"bridge_root", take_path, FIELD(bridge_root)},
	{"bridge_makes", take_path, FIELD(bridge_makes)},
	{"root", take_path, FIELD(root)},
	{"move", take_move, FIELD(movement)},
	{"migrate", take_draws, FIELD(movement.migrate)},
	{"hotplug", take_draws, FIELD(movement.hotplug)},
	{"anywhere", take_switch, FIELD(movement.anywhere)},
	{"siblings", take_number, FIELD(hazards.siblings)},
	{"siblings_from", take_from, FIELD(hazards.siblings_from_accept)},
	{"siblings_window", take_window, FIELD(hazards.siblings_schedule)},
	{"siblings_period_ms", take_ms, FIELD(hazards.siblings_schedule.period_ns)},
	{"hogs", take_number, FIELD(hazards.hogs)},
	{"hogs_each", take_number, FIELD(hazards.hogs_each)},
	{"memory_pressure", take_switch, FIELD(hazards.memory_pressure)},
	{"realtime_denied", take_switch, FIELD(hazards.realtime_denied)},
	{"refused", take_refused, FIELD(hazards.refused)},
	{"few_descriptors", take_number, FIELD(hazards.few.descriptors)},
	{"few_memory_mib", take_number, FIELD(hazards.few.memory_mib)},
	{"few_threads", take_switch, FIELD(hazards.few.no_threads)},
	{"uptime_ns", take_uptime, FIELD(hazards.uptime_ns)},
	{"tsc_mhz", take_number, FIELD(hazards.tsc_mhz)},
	{"rt_runtime_us", take_number, FIELD(hazards.rt_runtime_us)},
	{"wall_step", take_wall_step, FIELD(hazards)},
	{"leap", take_leap, FIELD(hazards)},
};

static bool take_line(const char *key, char *value, struct spec *spec)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(key, keys[i].key) == 0)
			return keys[i].take(value, (char *)spec + keys[i].offset);
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
