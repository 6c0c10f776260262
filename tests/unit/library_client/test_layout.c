// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../run_cases.h"
#include "layout.h"

/* Reads a layout from a file with that text. */
static int read_text(const char *text, const char *region, struct flashrom_layout **layout)
{
	char path[] = "/tmp/test_host_layout_XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	int error;

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	error = layout_read(layout, path, region);
	unlink(path);
	return error;
}

TEST(region_is_found_among_others)
{
	struct flashrom_layout *layout;
	unsigned int start, bytes;

	assert_int_equal(
		read_text("00000000:0000ffff boot\n00010000:0001ffff rig\n", "rig", &layout), 0);
	assert_int_equal(flashrom_layout_get_region_range(layout, "rig", &start, &bytes), 0);
	assert_int_equal(start, 0x10000);
	assert_int_equal(bytes, 0x10000);
	flashrom_layout_release(layout);
}

TEST(missing_region_is_refused)
{
	struct flashrom_layout *layout;

	assert_int_equal(read_text("00000000:0000ffff boot\n", "rig", &layout), -ENOENT);
	assert_int_equal(read_text("", "rig", &layout), -ENOENT);
}

TEST(invalid_line_is_refused)
{
	static const char *const wrong[] = {
		"rig\n", "0:rig\n", "0 ffff rig\n", "0:ffff\n", "ffff:0 rig\n"};
	struct flashrom_layout *layout;

	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(read_text(wrong[i], "rig", &layout), -EINVAL);
}

TEST(missing_file_is_refused)
{
	struct flashrom_layout *layout;

	assert_int_equal(layout_read(&layout, "/nowhere/layout", "rig"), -ENOENT);
}
