// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE

#include <stdlib.h>

#include "../cases.h"
#include "shared/json_line.h"

static char *written(void (*write)(FILE *))
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	write(out);
	fclose(out);
	return text;
}

static void write_all(FILE *out)
{
	const int64_t numbers[] = {1, -2};
	struct json_line line;

	json_begin(&line, out);
	json_signed(&line, "n", INT64_MIN);
	json_text(&line, "t", "a\"b\\c\n\x01\xff");
	json_list_signed(&line, "l", numbers, 2);
	json_list_signed(&line, "none", NULL, 0);
	json_end(&line);
}

/* Writes a line that is longer than the buffer. */
static void write_long(FILE *out)
{
	int64_t numbers[JSON_LINE_BYTES_MAX / 2];
	struct json_line line;

	for (size_t i = 0; i < JSON_LINE_BYTES_MAX / 2; i++)
		numbers[i] = 7;
	json_begin(&line, out);
	json_list_signed(&line, "l", numbers, JSON_LINE_BYTES_MAX / 2);
	json_end(&line);
}

static void everything_is_json_on_one_line(void)
{
	char *text = written(write_all);

	assert_string_equal(text,
		"{\"n\":-9223372036854775808,"
		"\"t\":\"a\\u0022b\\u005cc\\u000a\\u0001\\u00ff\",\"l\":[1,-2],\"none\":[]}\n");
	free(text);
}

static void line_of_any_length_is_whole(void)
{
	static const char head[] = "{\"l\":[";
	char *text = written(write_long);
	const char *at = text + strlen(head);

	assert_memory_equal(text, head, strlen(head));
	for (size_t i = 0; i < JSON_LINE_BYTES_MAX / 2; i++) {
		assert_memory_equal(at, i ? ",7" : "7", i ? 2 : 1);
		at += i ? 2 : 1;
	}
	assert_string_equal(at, "]}\n");
	free(text);
}

static const struct CMUnitTest tests[] = {
	CASE(everything_is_json_on_one_line),
	CASE(line_of_any_length_is_whole),
};

RUN_CASES(tests)
