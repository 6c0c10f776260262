/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "../run_cases.h"
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

/* Parsed settings, whose paths point into the text. */
struct fixture {
	char text[512];
	char error[SETTINGS_ERROR_BYTES];
	struct settings settings;
};

FIXTURE(fixture, NOTHING, NOTHING);

/* Parses all lines. Line @which is replaced by @instead, or left out if that is NULL. */
static int parse_with(struct fixture *fixture, size_t which, const char *instead)
{
	size_t len = 0;

	for (size_t i = 0; i < COUNT(lines); i++) {
		const char *line = i == which ? instead : lines[i];

		if (line)
			len += (size_t)snprintf(
				fixture->text + len, sizeof(fixture->text) - len, "%s\n", line);
	}
	return settings_parse(fixture->text, &fixture->settings, fixture->error);
}

TEST_ON(fixture, every_key_is_read)
{
	const struct settings *settings = &fixture->settings;

	assert_int_equal(parse_with(fixture, COUNT(lines), NULL), 0);
	assert_int_equal(settings->cell, 3);
	assert_string_equal(settings->bus.part->name, "SST29EE010");
	assert_int_equal(settings->bus.corner.kind, CORNER_MAX);
	assert_int_equal(settings->bus.seed, 7);
	assert_int_equal(settings->bus.records_max, 100);
	assert_int_equal(settings->bus.start_state, START_READY);
	assert_string_equal(settings->image_in, "/a=b");
	assert_int_equal(settings->image_offset, 65536);
	assert_string_equal(settings->image_out_sparse, "/c");
	assert_string_equal(settings->events, "/d");
}

TEST_ON(fixture, empty_text_is_no_chip)
{
	assert_int_equal(settings_parse(fixture->text, &fixture->settings, fixture->error), 0);
	assert_int_equal(fixture->settings.cell, 0);
}

TEST_ON(fixture, each_missing_key_is_refused)
{
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_int_equal(parse_with(fixture, i, NULL), -EINVAL);
}

TEST_ON(fixture, bad_lines_are_named)
{
	static const char *const bad[COUNT(lines)] = {"cell=0", "part=W25Q999", "corner=fast",
		"seed=-1", "records_max=0", "start_state=fresh",
		"image_in=", "image_offset=4294967296", "cell=3", "speed=1"};

	for (size_t i = 0; i < COUNT(lines); i++) {
		assert_int_equal(parse_with(fixture, i, bad[i]), -EINVAL);
		assert_non_null(strstr(fixture->error, bad[i]));
	}
}

/* Two records may follow the bound: the one that is still open, and EVENT_GAVE_UP. */
TEST_ON(fixture, records_max_leaves_room_for_two_more_records)
{
	char line[64];

	snprintf(line, sizeof(line), "records_max=%llu", EVENTS_COUNT_MAX - 2ull);
	assert_int_equal(parse_with(fixture, RECORDS_MAX_LINE, line), 0);
	snprintf(line, sizeof(line), "records_max=%llu", EVENTS_COUNT_MAX - 1ull);
	assert_int_equal(parse_with(fixture, RECORDS_MAX_LINE, line), -EINVAL);
}

TEST_ON(fixture, state_that_does_not_fit_its_part_is_refused)
{
	assert_int_equal(
		parse_with(fixture, START_STATE_LINE, "start_state=deaf-suspended"), -EINVAL);
	assert_non_null(strstr(fixture->error, "SST29EE010"));
}
