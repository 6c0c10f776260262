/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../cases.h"
#include "captured_log.h"
#include "chip.h"
#include "layout.h"
#include "range.h"

static struct captured_log captured;

static int parse(const char *text, struct layout *layout)
{
	const struct log log = captured_log(&captured);
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int error;

	captured = (struct captured_log){0};
	assert_non_null(file);
	error = layout_parse(file, "test.layout", &log, layout);
	fclose(file);
	return error;
}

static void end_is_the_last_address_of_a_region(void)
{
	struct layout layout = {0};
	const struct layout_region *main_region;

	assert_int_equal(parse("0:fff boot\n0x1000:0xFFFF main\n", &layout), 0);
	assert_int_equal(layout.count, 2);
	main_region = layout_find(&layout, "main");
	assert_non_null(main_region);
	assert_int_equal(main_region->range.start, 0x1000);
	assert_int_equal(main_region->range.end, 0x10000);
	layout_deinit(&layout);
}

static void folder_is_not_read_as_an_empty_layout(void)
{
	const struct log log = captured_log(&captured);
	struct layout layout = {0};
	FILE *folder = fopen("/", "r");

	captured = (struct captured_log){0};
	assert_non_null(folder);
	assert_int_equal(layout_parse(folder, "/", &log, &layout), -EISDIR);
	assert_true(logged(&captured, "Cannot read /: Is a directory"));
	fclose(folder);
}

static void blank_lines_comments_and_a_missing_newline_are_accepted(void)
{
	struct layout layout = {0};

	assert_int_equal(parse("# map\n\n \t\r\n0:0 one # note\r\n1:1\ttwo", &layout), 0);
	assert_int_equal(layout.count, 2);
	assert_int_equal(range_bytes(layout.regions[0].range), 1);
	layout_deinit(&layout);
}

static void bad_lines_are_reported_with_their_number(void)
{
	static const char *const bad[] = {
		"0:0 a\n0-1 b\n",
		"0:0 a\n0:1\n",
		"0:0 a\nxyz:1 b\n",
		"0:0 a\n:1 b\n",
		"0:0 a\n2:1 b\n",
		"0:0 a\n0:ffffffff b\n",
		"0:0 a\n0:100000000 b\n",
		"0:0 a\n-1:1 b\n",
		"0:0 a\n0:1 b c\n",
		"0:0 a\n1:1 a\n",
	};
	struct layout layout = {0};

	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(parse(bad[i], &layout), -EINVAL);
		assert_true(logged(&captured, "test.layout:2:"));
		assert_null(layout.regions);
	}
}

static void nearest_name_is_found_for_an_unknown_name(void)
{
	struct layout layout = {0};

	assert_int_equal(parse("0:1 bootblock\n2:3 main\n", &layout), 0);
	assert_null(layout_find(&layout, "bootblok"));
	assert_string_equal(layout_name_nearest(&layout, "bootblok"), "bootblock");
	layout_deinit(&layout);
}

static void ranges_are_joined_if_they_touch_or_overlap(void)
{
	struct {
		struct range ranges[3];
		size_t count;
		struct range joined[2];
		size_t joined_count;
	} rows[] = {
		{{{0x20000, 0x30000}, {0x10000, 0x20000}, {0, 0x1000}}, 3,
			{{0, 0x1000}, {0x10000, 0x30000}}, 2},
		{{{0x8000, 0x9000}, {0x1000, 0x2000}}, 2, {{0x1000, 0x2000}, {0x8000, 0x9000}}, 2},
		{{{0x1000, 0x2000}, {0, 0x10000}}, 2, {{0, 0x10000}}, 1},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(ranges_join(rows[i].ranges, rows[i].count), rows[i].joined_count);
		assert_memory_equal(rows[i].ranges, rows[i].joined,
			rows[i].joined_count * sizeof(struct range));
	}
}

/* The sum of their sizes exceeds 32 bits. So if they were not joined, progress would wrap. */
static void included_regions_that_overlap_are_one_range(void)
{
	const struct log log = captured_log(&captured);
	struct layout_region regions[65];
	const struct layout layout = {regions, COUNT(regions)};
	struct range *ranges;
	size_t count;

	for (size_t i = 0; i < COUNT(regions); i++)
		regions[i] = (struct layout_region){NULL, {0, CHIP_BYTES_MAX}, true};
	assert_int_equal(layout_ranges(&layout, CHIP_BYTES_MAX, &log, &ranges, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(ranges[0].start, 0);
	assert_int_equal(ranges[0].end, CHIP_BYTES_MAX);
	free(ranges);
}

static const struct CMUnitTest tests[] = {
	CASE(end_is_the_last_address_of_a_region),
	CASE(folder_is_not_read_as_an_empty_layout),
	CASE(blank_lines_comments_and_a_missing_newline_are_accepted),
	CASE(bad_lines_are_reported_with_their_number),
	CASE(nearest_name_is_found_for_an_unknown_name),
	CASE(ranges_are_joined_if_they_touch_or_overlap),
	CASE(included_regions_that_overlap_are_one_range),
};

RUN_CASES(tests)
