/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../run_cases.h"
#include "delay_plugin/record.h"

static const struct moment moment = {.t_ns = 5000, .late_insns = 7, .cpu = 3};

static void check(const struct json_line *line, const char *expected)
{
	assert_int_equal(line->len, strlen(expected));
	assert_memory_equal(line->bytes, expected, line->len);
}

TEST(record_begins_with_its_schema)
{
	struct json_line line;

	check(record_start(&line), "{\"ev\":\"delays\",\"schema\":2}\n");
}

TEST(enter_line_has_all_fields_of_a_call)
{
	const struct entry entry = {.call = 9,
		.function = 1,
		.asked = 10000,
		.place = {.space = 1, .thread = 2, .sp = UINT64_MAX},
		.stack = 4};
	struct json_line line;

	check(record_enter(&line, &moment, &entry),
		"{\"ev\":\"enter\",\"call\":9,\"function\":1,\"t_ns\":5000,\"late_insns\":7,"
		"\"cpu\":3,"
		"\"asked\":10000,\"space\":1,\"thread\":2,\"sp\":18446744073709551615,\"stack\":4}"
		"\n");
}

TEST(lines_for_the_end_of_a_call_have_all_fields)
{
	struct json_line line;

	check(record_leave(&line, &moment, 9, "site", UINT64_MAX),
		"{\"ev\":\"leave\",\"call\":9,\"t_ns\":5000,\"late_insns\":7,\"cpu\":3,"
		"\"by\":\"site\",\"result\":18446744073709551615}\n");
	check(record_abandon(&line, 9), "{\"ev\":\"abandon\",\"call\":9}\n");
	check(record_lost(&line, 2), "{\"ev\":\"lost\",\"calls\":2}\n");
}

TEST(asking_line_has_the_arguments_of_a_sleep)
{
	const struct asking asking = {.is_known = true, .arguments = {1, 0, UINT64_MAX, 3, 4}};
	struct json_line line;

	check(record_asking(&line, 9, &asking), "{\"ev\":\"asking\",\"call\":9,\"is_known\":true,"
						"\"arguments\":[1,0,18446744073709551615,3,4]}\n");
}

TEST(longest_stack_fits_into_a_line)
{
	struct stack stack = {.function = 15,
		.base = UINT64_MAX,
		.sp = UINT64_MAX,
		.fp = UINT64_MAX,
		.lr = UINT64_MAX,
		.word_count = STACK_WORDS_MAX};
	struct json_line line;

	memset(stack.words, 0xff, sizeof(stack.words));
	record_stack(&line, STACKS_MAX, &stack);
	assert_true(line.len > STACK_WORDS_MAX * strlen("18446744073709551615,"));
	assert_memory_equal(line.bytes + line.len - 3, "]}\n", 3);
}
