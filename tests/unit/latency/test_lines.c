// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "lines.h"

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

	line_begin(out, 3);
	line_number(out, "n", INT64_MIN);
	line_text(out, "t", "a\"b\\c\n\x01\xff");
	line_numbers(out, "l", numbers, 2);
	line_numbers(out, "none", NULL, 0);
	line_end(out);
}

static void everything_is_json_on_one_line(void **state)
{
	char *text = written(write_all);

	(void)state;
	assert_string_equal(text,
		"{\"schema\":1,\"series\":3,\"n\":-9223372036854775808,"
		"\"t\":\"a\\u0022b\\u005cc\\u000a\\u0001\\u00ff\",\"l\":[1,-2],\"none\":[]}\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_json_on_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
