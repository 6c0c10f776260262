/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "delay_plugin/mapped_file.h"

#define LINE "a line of what was seen\n"

struct written {
	struct mapped_file mapped_file;
	char path[32];
};

static int set_up(void **state)
{
	struct written *written = calloc(1, sizeof(*written));
	int file;

	strcpy(written->path, "/tmp/mapped_file-XXXXXX");
	file = mkstemp(written->path);
	close(file);
	*state = written;
	return mapped_file_init(&written->mapped_file, written->path);
}

static int tear_down(void **state)
{
	struct written *written = *state;

	mapped_file_destroy(&written->mapped_file);
	unlink(written->path);
	free(written);
	return 0;
}

/* Returns the number of bytes before the first zero, read without the map. */
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

static void line_is_in_the_file_at_once(void **state)
{
	struct written *written = *state;

	assert_int_equal(mapped_file_write(&written->mapped_file, LINE, strlen(LINE), 0), 0);
	assert_int_equal(length(written->path), strlen(LINE));
}

static void lines_go_on_across_the_end_of_what_is_mapped(void **state)
{
	struct written *written = *state;
	const size_t count = 40000;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(
			mapped_file_write(&written->mapped_file, LINE, strlen(LINE), 0), 0);
	assert_int_equal(length(written->path), count * strlen(LINE));
}

static void cleared_file_begins_anew(void **state)
{
	struct written *written = *state;

	mapped_file_write(&written->mapped_file, LINE LINE, 2 * strlen(LINE), 0);
	assert_int_equal(mapped_file_clear(&written->mapped_file), 0);
	assert_int_equal(length(written->path), 0);
	mapped_file_write(&written->mapped_file, LINE, strlen(LINE), 0);
	assert_int_equal(length(written->path), strlen(LINE));
}

static void line_that_leaves_too_little_room_is_not_written(void **state)
{
	struct written *written = *state;
	const size_t spare = MAPPED_FILE_BYTES_MAX - strlen(LINE);

	assert_int_equal(mapped_file_write(&written->mapped_file, LINE, strlen(LINE), spare), 0);
	assert_int_equal(
		mapped_file_write(&written->mapped_file, LINE, strlen(LINE), spare), -EFBIG);
	assert_int_equal(length(written->path), strlen(LINE));
	assert_int_equal(mapped_file_write(&written->mapped_file, LINE, strlen(LINE), 0), 0);
	assert_int_equal(length(written->path), 2 * strlen(LINE));
}

static void file_that_cannot_be_made_is_an_error(void **state)
{
	struct mapped_file mapped_file;

	(void)state;
	assert_int_equal(mapped_file_init(&mapped_file, "/nowhere/at/all"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(line_is_in_the_file_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			lines_go_on_across_the_end_of_what_is_mapped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cleared_file_begins_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			line_that_leaves_too_little_room_is_not_written, set_up, tear_down),
		cmocka_unit_test(file_that_cannot_be_made_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
