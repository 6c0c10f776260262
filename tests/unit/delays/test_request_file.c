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

#include <unistd.h>

#include "delay_plugin/request.h"

static void write_at(const char *path, long at, const void *bytes, size_t count)
{
	FILE *file = fopen(path, "r+");

	if (!file)
		return;
	fseek(file, at, SEEK_SET);
	fwrite(bytes, 1, count, file);
	fclose(file);
}

static void another_cell_is_noticed_once(void **state)
{
	char path[] = "/tmp/request-XXXXXX";
	uint64_t cell = 3;
	struct request_file file;

	(void)state;
	close(mkstemp(path));
	write_at(path, 0, "\0\0\0\0\0\0\0\0text", 13);
	assert_int_equal(request_file_open(&file, path), 0);
	assert_false(request_file_has_changed(&file));
	write_at(path, 8, "more", 5);
	write_at(path, 0, &cell, sizeof(cell));
	assert_true(request_file_has_changed(&file));
	assert_false(request_file_has_changed(&file));
	assert_string_equal(request_file_text(&file), "more");
	unlink(path);
}

static void text_without_an_end_is_none(void **state)
{
	char path[] = "/tmp/request-XXXXXX";
	struct request_file file;

	(void)state;
	close(mkstemp(path));
	write_at(path, 0, "\1\0\0\0\0\0\0\0text", 12);
	assert_int_equal(request_file_open(&file, path), 0);
	assert_null(request_file_text(&file));
	unlink(path);
}

static void file_that_is_missing_or_too_short_is_an_error(void **state)
{
	char path[] = "/tmp/request-XXXXXX";
	struct request_file file;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(request_file_open(&file, path), -EINVAL);
	unlink(path);
	assert_int_equal(request_file_open(&file, path), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_cell_is_noticed_once),
		cmocka_unit_test(text_without_an_end_is_none),
		cmocka_unit_test(file_that_is_missing_or_too_short_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
