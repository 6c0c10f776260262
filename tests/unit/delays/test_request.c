/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../run_cases.h"
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

TEST(function_and_its_marks_are_read)
{
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

TEST(sleep_is_read_and_numbered_like_a_function)
{
	assert_int_equal(parse(FUNCTION SLEEP "call 1 401200 0 " WINDOW "\n"), 0);
	assert_int_equal(request.function_count, 2);
	assert_false(request.functions[0].is_sleep);
	assert_true(request.functions[1].is_sleep);
	assert_int_equal(request.functions[1].argument, 2);
	assert_int_equal(request.functions[1].seconds_bytes, 8);
	assert_int_equal(request.functions[1].part_ns, 1);
	assert_int_equal(request.marks[0].kind, REQUEST_CALL);
}

TEST(mark_is_found_by_its_offset_in_a_page)
{
	const struct request_mark *mark;

	parse(FUNCTION "entry 0 401120 0 " WINDOW "\nreturn 0 405120 0 " WINDOW "\n");
	mark = request_first(&request, UINT64_C(0x7fff12345120));
	assert_int_equal(mark->kind, REQUEST_RETURN);
	mark = request_next(&request, mark);
	assert_int_equal(mark->kind, REQUEST_ENTRY);
	assert_null(request_next(&request, mark));
	assert_null(request_first(&request, 0x401121));
}

TEST(empty_text_requests_nothing)
{
	assert_int_equal(parse(""), 0);
	assert_int_equal(request.function_count, 0);
}

TEST(bad_line_is_refused_with_its_number)
{
	static const char *const bad[] = {
		"function 401120\n",
		"function 401120 4f 0 20 1 401000 4090000000000000f\n",
		"function 401120 4f 0 20 1 401000 40g000\n",
		"sleep 401200 2 9 8 1 0 401000 409000\n", /* seconds of 72 bits */
		"entry 1 401120 0 " WINDOW "\n",          /* no such function */
		"exit 0 401120 0 " WINDOW "\n",           /* no such kind */
		"entry 0 401120 0 00\n",                  /* too short */
		"entry 0 401120 0 " WINDOW "00\n",        /* too long */
		"entry 0 401120 121 " WINDOW "\n",        /* begins before its page */
		"entry 0 401ff8 0 " WINDOW "\n",          /* ends after its page */
	};

	for (size_t i = 0; i < COUNT(bad); i++) {
		char text[512];

		snprintf(text, sizeof(text), "%s%s", FUNCTION, bad[i]);
		assert_int_equal(parse(text), -EINVAL);
		assert_int_equal(line, 2);
	}
}

TEST(one_function_too_many_is_refused)
{
	char text[(REQUEST_FUNCTIONS_MAX + 1) * sizeof(FUNCTION)] = "";

	for (int i = 0; i < REQUEST_FUNCTIONS_MAX; i++)
		strcat(text, FUNCTION);
	assert_int_equal(parse(text), 0);
	strcat(text, FUNCTION);
	assert_int_equal(parse(text), -EINVAL);
	assert_int_equal(line, REQUEST_FUNCTIONS_MAX + 1);
}

static void write_at(const char *path, long at, const void *bytes, size_t count)
{
	FILE *file = fopen(path, "r+");

	if (!file)
		return;
	fseek(file, at, SEEK_SET);
	fwrite(bytes, 1, count, file);
	fclose(file);
}

TEST(new_cell_is_reported_once)
{
	char path[] = "/tmp/request-XXXXXX";
	uint64_t cell = 3;
	struct request_file file;

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

TEST(text_without_a_final_zero_is_refused)
{
	char path[] = "/tmp/request-XXXXXX";
	struct request_file file;

	close(mkstemp(path));
	write_at(path, 0, "\1\0\0\0\0\0\0\0text", 12);
	assert_int_equal(request_file_open(&file, path), 0);
	assert_null(request_file_text(&file));
	unlink(path);
}

TEST(file_that_is_missing_or_too_short_is_an_error)
{
	char path[] = "/tmp/request-XXXXXX";
	struct request_file file;

	close(mkstemp(path));
	assert_int_equal(request_file_open(&file, path), -EINVAL);
	unlink(path);
	assert_int_equal(request_file_open(&file, path), -ENOENT);
}
