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

static void unknown_name_is_answered_by_the_nearest_name(void)
{
	struct layout layout = {0};

	assert_int_equal(parse("0:1 bootblock\n2:3 main\n", &layout), 0);
	assert_null(layout_find(&layout, "bootblok"));
	assert_string_equal(layout_name_nearest(&layout, "bootblok"), "bootblock");
	layout_deinit(&layout);
}

static void assert_range(struct range range, uint32_t start, uint32_t end)
{
	assert_int_equal(range.start, start);
	assert_int_equal(range.end, end);
}

static void adjacent_ranges_become_one(void)
{
	struct range ranges[] = {{0x20000, 0x30000}, {0x10000, 0x20000}, {0, 0x1000}};

	assert_int_equal(ranges_join(ranges, 3), 2);
	assert_range(ranges[0], 0, 0x1000);
	assert_range(ranges[1], 0x10000, 0x30000);
}

/* The sum of their sizes exceeds 32 bits, so a progress report must count them once. */
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
	assert_range(ranges[0], 0, CHIP_BYTES_MAX);
	free(ranges);
}

static void ranges_with_a_gap_between_them_stay_separate(void)
{
	struct range ranges[] = {{0x8000, 0x9000}, {0x1000, 0x2000}};

	assert_int_equal(ranges_join(ranges, 2), 2);
	assert_range(ranges[0], 0x1000, 0x2000);
	assert_range(ranges[1], 0x8000, 0x9000);
}

static void range_inside_another_disappears(void)
{
	struct range ranges[] = {{0x1000, 0x2000}, {0x0, 0x10000}};

	assert_int_equal(ranges_join(ranges, 2), 1);
	assert_range(ranges[0], 0, 0x10000);
}

static const struct CMUnitTest tests[] = {
	CASE(end_is_the_last_address_of_a_region),
	CASE(folder_is_not_read_as_an_empty_layout),
	CASE(blank_lines_comments_and_a_missing_newline_are_accepted),
	CASE(bad_lines_are_reported_with_their_number),
	CASE(unknown_name_is_answered_by_the_nearest_name),
	CASE(adjacent_ranges_become_one),
	CASE(included_regions_that_overlap_are_one_range),
	CASE(ranges_with_a_gap_between_them_stay_separate),
	CASE(range_inside_another_disappears),
};

RUN_CASES(tests)
