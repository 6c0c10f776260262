/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <sys/stat.h>
#include <unistd.h>

#include "../cases.h"
#include "delay_plugin/record.h"

#define LINE "a line of what was seen\n"

struct written {
	struct mapped_file mapped_file;
	char path[32];
};

static void set_up(struct written *written)
{
	strcpy(written->path, "/tmp/mapped_file-XXXXXX");
	close(mkstemp(written->path));
	assert_int_equal(mapped_file_init(&written->mapped_file, written->path), 0);
}

static void tear_down(struct written *written)
{
	close(written->mapped_file.file);
	unlink(written->path);
}

FIXTURE(written, set_up, tear_down);

/* Returns the number of bytes before the first zero. Reads the file, not the mapping. */
static size_t length(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t count = 0;
	int c;

	if (!file)
		return SIZE_MAX;
	while ((c = fgetc(file)) != EOF && c != '\0')
		count++;
	fclose(file);
	return count;
}

static void line_is_in_the_file_at_once(struct written *written)
{
	assert_int_equal(mapped_file_write(&written->mapped_file, LINE, strlen(LINE), 0), 0);
	assert_int_equal(length(written->path), strlen(LINE));
}

static void lines_go_on_across_the_end_of_what_is_mapped(struct written *written)
{
	const size_t count = 40000;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(
			mapped_file_write(&written->mapped_file, LINE, strlen(LINE), 0), 0);
	assert_int_equal(length(written->path), count * strlen(LINE));
}

static void cleared_file_begins_anew(struct written *written)
{
	mapped_file_write(&written->mapped_file, LINE LINE, 2 * strlen(LINE), 0);
	assert_int_equal(mapped_file_clear(&written->mapped_file), 0);
	assert_int_equal(length(written->path), 0);
	mapped_file_write(&written->mapped_file, LINE, strlen(LINE), 0);
	assert_int_equal(length(written->path), strlen(LINE));
}

static void line_that_leaves_too_little_room_is_not_written(struct written *written)
{
	const size_t spare = MAPPED_FILE_BYTES_MAX - strlen(LINE);

	assert_int_equal(mapped_file_write(&written->mapped_file, LINE, strlen(LINE), spare), 0);
	assert_int_equal(
		mapped_file_write(&written->mapped_file, LINE, strlen(LINE), spare), -EFBIG);
	assert_int_equal(length(written->path), strlen(LINE));
	assert_int_equal(mapped_file_write(&written->mapped_file, LINE, strlen(LINE), 0), 0);
	assert_int_equal(length(written->path), 2 * strlen(LINE));
}

static void file_that_cannot_be_made_is_an_error(void)
{
	struct mapped_file mapped_file;

	assert_int_equal(mapped_file_init(&mapped_file, "/nowhere/at/all"), -ENOENT);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(written, line_is_in_the_file_at_once),
	CASE_ON(written, lines_go_on_across_the_end_of_what_is_mapped),
	CASE_ON(written, cleared_file_begins_anew),
	CASE_ON(written, line_that_leaves_too_little_room_is_not_written),
	CASE(file_that_cannot_be_made_is_an_error),
};

RUN_CASES(tests)
