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

#include "delay_plugin/request.h"

#define FUNCTION "function 401120 4f 0 20 1 401000 409000\n"
#define SLEEP "sleep 401200 2 8 8 1 0 401000 409000\n"
#define WINDOW "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static struct request request;
static size_t line;

static int parse(const char *text)
{
	return request_parse(text, &request, &line);
}

static void function_and_its_marks_are_read(void **state)
{
	(void)state;
	assert_int_equal(parse(FUNCTION "entry 0 401120 0 " WINDOW "\n"
					"site 0 402ff8 18 " WINDOW "\n"),
		0);
	assert_int_equal(request.function_count, 1);
	assert_int_equal(request.functions[0].address, 0x401120);
	assert_int_equal(request.functions[0].size, 0x4f);
	assert_int_equal(request.functions[0].argument_bits, 32);
	assert_true(request.functions[0].may_jump);
	assert_int_equal(request.functions[0].text_end, 0x409000);
	assert_int_equal(request.mark_count, 2);
	assert_int_equal(request.marks[1].back, 0x18);
	assert_int_equal(request.marks[1].window[31], 0xff);
}

static void sleep_is_counted_with_the_functions(void **state)
{
	(void)state;
	assert_int_equal(parse(FUNCTION SLEEP "call 1 401200 0 " WINDOW "\n"), 0);
	assert_int_equal(request.function_count, 2);
	assert_false(request.functions[0].is_sleep);
	assert_true(request.functions[1].is_sleep);
	assert_int_equal(request.functions[1].argument, 2);
	assert_int_equal(request.functions[1].seconds_bytes, 8);
	assert_int_equal(request.functions[1].part_ns, 1);
	assert_int_equal(request.marks[0].kind, REQUEST_CALL);
}

static void mark_is_found_by_its_place_in_a_page(void **state)
{
	const struct request_mark *mark;

	(void)state;
	parse(FUNCTION "entry 0 401120 0 " WINDOW "\nreturn 0 405120 0 " WINDOW "\n");
	mark = request_first(&request, UINT64_C(0x7fff12345120));
	assert_int_equal(mark->kind, REQUEST_RETURN);
	mark = request_next(&request, mark);
	assert_int_equal(mark->kind, REQUEST_ENTRY);
	assert_null(request_next(&request, mark));
	assert_null(request_first(&request, 0x401121));
}

static void no_text_is_a_request_for_nothing(void **state)
{
	(void)state;
	assert_int_equal(parse(""), 0);
	assert_int_equal(request.function_count, 0);
}

static void bad_line_is_named(void **state)
{
	static const char *const bad[] = {
		"function 401120\n",
		"function 401120 4f 0 20 1 401000 4090000000000000f\n",
		"function 401120 4f 0 20 1 401000 40g000\n",
		"sleep 401200 2 9 8 1 0 401000 409000\n", /* 72 bits of seconds */
		"entry 1 401120 0 " WINDOW "\n",          /* no such function */
		"exit 0 401120 0 " WINDOW "\n",           /* no such kind */
		"entry 0 401120 0 00\n",                  /* too short */
		"entry 0 401120 0 " WINDOW "00\n",        /* too long */
		"entry 0 401120 121 " WINDOW "\n",        /* begins a page too early */
		"entry 0 401ff8 0 " WINDOW "\n",          /* ends a page too late */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), "%s%s", FUNCTION, bad[i]);
		assert_int_equal(parse(text), -EINVAL);
		assert_int_equal(line, 2);
	}
}

static void one_function_too_many_is_refused(void **state)
{
	char text[(REQUEST_FUNCTIONS_MAX + 1) * sizeof(FUNCTION)] = "";

	(void)state;
	for (int i = 0; i < REQUEST_FUNCTIONS_MAX; i++)
		strcat(text, FUNCTION);
	assert_int_equal(parse(text), 0);
	strcat(text, FUNCTION);
	assert_int_equal(parse(text), -EINVAL);
	assert_int_equal(line, REQUEST_FUNCTIONS_MAX + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(function_and_its_marks_are_read),
		cmocka_unit_test(sleep_is_counted_with_the_functions),
		cmocka_unit_test(mark_is_found_by_its_place_in_a_page),
		cmocka_unit_test(no_text_is_a_request_for_nothing),
		cmocka_unit_test(bad_line_is_named),
		cmocka_unit_test(one_function_too_many_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
