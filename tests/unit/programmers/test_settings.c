/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "../cases.h"
#include "programmers/session.h"

static const char *const lines[] = {
	"cell=3",
	"part=SST29EE010",
	"corner=max",
	"seed=7",
	"records_max=100",
	"start_state=ready",
	"image_in=/a=b",
	"image_offset=65536",
	"image_out_sparse=/c",
	"events=/d",
};

#define RECORDS_MAX_LINE 4
#define START_STATE_LINE 5

/* Returns all lines. Line @which is replaced by @instead, or left out if that is NULL. */
static const char *text_with(char *text, size_t bytes, size_t which, const char *instead)
{
	size_t len = 0;

	for (size_t i = 0; i < COUNT(lines); i++) {
		const char *line = i == which ? instead : lines[i];

		if (line)
			len += (size_t)snprintf(text + len, bytes - len, "%s\n", line);
	}
	return text;
}

static void every_key_is_read(void)
{
	char text[512], error[SETTINGS_ERROR_BYTES];
	struct settings settings;

	text_with(text, sizeof(text), COUNT(lines), NULL);
	assert_int_equal(settings_parse(text, &settings, error), 0);
	assert_int_equal(settings.cell, 3);
	assert_string_equal(settings.bus.part->name, "SST29EE010");
	assert_int_equal(settings.bus.corner.kind, CORNER_MAX);
	assert_int_equal(settings.bus.seed, 7);
	assert_int_equal(settings.bus.records_max, 100);
	assert_int_equal(settings.bus.start_state, START_READY);
	assert_string_equal(settings.image_in, "/a=b");
	assert_int_equal(settings.image_offset, 65536);
	assert_string_equal(settings.image_out_sparse, "/c");
	assert_string_equal(settings.events, "/d");
}

static void empty_text_is_no_chip(void)
{
	char text[] = "", error[SETTINGS_ERROR_BYTES];
	struct settings settings;

	assert_int_equal(settings_parse(text, &settings, error), 0);
	assert_int_equal(settings.cell, 0);
}

static void each_missing_key_is_refused(void)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		char text[512], error[SETTINGS_ERROR_BYTES];
		struct settings settings;

		text_with(text, sizeof(text), i, NULL);
		assert_int_equal(settings_parse(text, &settings, error), -EINVAL);
	}
}

static void bad_lines_are_named(void)
{
	static const char *const bad[COUNT(lines)] = {"cell=0", "part=W25Q999", "corner=fast",
		"seed=-1", "records_max=0", "start_state=fresh",
		"image_in=", "image_offset=4294967296", "cell=3", "speed=1"};

	for (size_t i = 0; i < COUNT(lines); i++) {
		char text[512], error[SETTINGS_ERROR_BYTES];
		struct settings settings;

		text_with(text, sizeof(text), i, bad[i]);
		assert_int_equal(settings_parse(text, &settings, error), -EINVAL);
		assert_non_null(strstr(error, bad[i]));
	}
}

/* Two records may follow the bound: the one that is still open, and EVENT_GAVE_UP. */
static void records_past_the_bound_have_room(void)
{
	static const struct {
		uint64_t records_max;
		int ret;
	} rows[] = {{EVENTS_COUNT_MAX - 2, 0}, {EVENTS_COUNT_MAX - 1, -EINVAL}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[512], line[64], error[SETTINGS_ERROR_BYTES];
		struct settings settings;

		snprintf(line, sizeof(line), "records_max=%llu",
			(unsigned long long)rows[i].records_max);
		text_with(text, sizeof(text), RECORDS_MAX_LINE, line);
		assert_int_equal(settings_parse(text, &settings, error), rows[i].ret);
	}
}

static void state_that_does_not_fit_its_part_is_refused(void)
{
	char text[512], error[SETTINGS_ERROR_BYTES];
	struct settings settings;

	text_with(text, sizeof(text), START_STATE_LINE, "start_state=deaf-suspended");
	assert_int_equal(settings_parse(text, &settings, error), -EINVAL);
	assert_non_null(strstr(error, "SST29EE010"));
}

static const struct CMUnitTest tests[] = {
	CASE(every_key_is_read),
	CASE(empty_text_is_no_chip),
	CASE(each_missing_key_is_refused),
	CASE(bad_lines_are_named),
	CASE(records_past_the_bound_have_room),
	CASE(state_that_does_not_fit_its_part_is_refused),
};

RUN_CASES(tests)
