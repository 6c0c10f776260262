/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <sys/stat.h>
#include <unistd.h>

#include "../run_cases.h"
#include "delay_plugin/record.h"

#define LINE "a line of a record\n"

struct output {
	struct mapped_file mapped_file;
	char path[32];
};

static void set_up(struct output *output)
{
	strcpy(output->path, "/tmp/mapped_file-XXXXXX");
	close(mkstemp(output->path));
	assert_int_equal(mapped_file_init(&output->mapped_file, output->path), 0);
}

static void tear_down(struct output *output)
{
	close(output->mapped_file.file);
	unlink(output->path);
}

FIXTURE(output, set_up, tear_down);

/* Returns the number of bytes before the first zero. Reads the file, not the mapping. */
static size_t content_bytes(const char *path)
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

TEST_ON(output, lines_continue_across_the_end_of_the_window)
{
	const size_t count = 40000;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(mapped_file_write(&output->mapped_file, LINE, strlen(LINE), 0), 0);
	assert_int_equal(content_bytes(output->path), count * strlen(LINE));
}

TEST_ON(output, cleared_file_is_empty_and_can_be_written_again)
{
	mapped_file_write(&output->mapped_file, LINE LINE, 2 * strlen(LINE), 0);
	assert_int_equal(mapped_file_clear(&output->mapped_file), 0);
	assert_int_equal(content_bytes(output->path), 0);
	mapped_file_write(&output->mapped_file, LINE, strlen(LINE), 0);
	assert_int_equal(content_bytes(output->path), strlen(LINE));
}

TEST_ON(output, line_that_leaves_too_little_room_is_not_written)
{
	const size_t spare = MAPPED_FILE_BYTES_MAX - strlen(LINE);

	assert_int_equal(mapped_file_write(&output->mapped_file, LINE, strlen(LINE), spare), 0);
	assert_int_equal(
		mapped_file_write(&output->mapped_file, LINE, strlen(LINE), spare), -EFBIG);
	assert_int_equal(content_bytes(output->path), strlen(LINE));
	assert_int_equal(mapped_file_write(&output->mapped_file, LINE, strlen(LINE), 0), 0);
	assert_int_equal(content_bytes(output->path), 2 * strlen(LINE));
}

TEST(file_that_cannot_be_made_is_an_error)
{
	struct mapped_file mapped_file;

	assert_int_equal(mapped_file_init(&mapped_file, "/nowhere/at/all"), -ENOENT);
}
