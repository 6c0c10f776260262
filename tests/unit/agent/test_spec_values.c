/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of a key: numbers, paths, fields and words, and their number. */
#include <limits.h>

#include "spec_bench.h"

static void command_has_a_word_a_line_and_a_last_line_that_ends(void **state)
{
	struct spec_words words;
	char text[] = "/serprog-emu\n--clock\ntsc\n";
	char cut[] = "/serprog-emu\n--clo";
	char none[] = "";

	(void)state;
	assert_true(spec_parse_words(text, &words));
	assert_int_equal(words.count, 3);
	assert_string_equal(words.word[2], "tsc");
	assert_null(words.word[3]);
	assert_false(spec_parse_words(cut, &words));
	assert_false(spec_parse_words(none, &words));
}

static void command_of_too_many_words_is_refused(void **state)
{
	struct spec_words words;
	char text[2 * (SPEC_WORDS_MAX + 1) + 1] = "";

	(void)state;
	for (size_t i = 0; i <= SPEC_WORDS_MAX; i++)
		strcat(text, "x\n");
	assert_false(spec_parse_words(text, &words));
}

static void repeated_words_keep_their_order_and_end_with_null(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse(&bench, LEAST "subject -p\nemulator --chip\nsubject -c\n"), 0);
	assert_int_equal(bench.spec.subject.count, 3);
	assert_string_equal(bench.spec.subject.word[1], "-p");
	assert_string_equal(bench.spec.subject.word[2], "-c");
	assert_null(bench.spec.subject.word[3]);
	assert_int_equal(bench.spec.emulator.count, 2);
	assert_null(bench.spec.emulator.word[2]);
}

static void word_that_holds_spaces_stays_one_word(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse_line(&bench, "subject  two spaces "), 0);
	assert_string_equal(bench.spec.subject.word[1], " two spaces ");
}

static void word_that_is_empty_stays_a_word(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse_line(&bench, "subject "), 0);
	assert_int_equal(bench.spec.subject.count, 2);
	assert_string_equal(bench.spec.subject.word[1], "");
}

static void words_up_to_the_limit_are_taken(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse_lines(&bench, "emulator -x", SPEC_WORDS_MAX - 1), 0);
	assert_int_equal(bench.spec.emulator.count, SPEC_WORDS_MAX);
	assert_null(bench.spec.emulator.word[SPEC_WORDS_MAX]);
}

static void word_past_the_limit_is_refused(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(
		parse_lines(&bench, "emulator -x", SPEC_WORDS_MAX), LEAST_LINES + SPEC_WORDS_MAX);
	assert_int_equal(
		parse_lines(&bench, "subject -x", SPEC_WORDS_MAX), LEAST_LINES + SPEC_WORDS_MAX);
	assert_int_equal(parse_lines(&bench, "bridge -x", SPEC_WORDS_MAX + 1),
		LEAST_LINES + SPEC_WORDS_MAX + 1);
}

static void files_up_to_the_limit_are_taken(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse_lines(&bench, "image /i 1 0 /f", SPEC_FILES_MAX), 0);
	assert_int_equal(bench.spec.images, SPEC_FILES_MAX);
	assert_int_equal(parse_lines(&bench, "collect n /p 0 0", SPEC_FILES_MAX), 0);
	assert_int_equal(bench.spec.collects, SPEC_FILES_MAX);
}

static void file_past_the_limit_is_refused(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse_lines(&bench, "image /i 1 0 /f", SPEC_FILES_MAX + 1),
		LEAST_LINES + SPEC_FILES_MAX + 1);
	assert_int_equal(parse_lines(&bench, "collect n /p 0 0", SPEC_FILES_MAX + 1),
		LEAST_LINES + SPEC_FILES_MAX + 1);
}

static void numbers_up_to_the_largest_are_taken(void **state)
{
	static const unsigned int numbers[] = {0, 1, 4294967, 4294968, UINT_MAX};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		char line[64];

		snprintf(line, sizeof(line), "settle_ms %u", numbers[i]);
		assert_int_equal(parse_line(&bench, line), 0);
		assert_int_equal(bench.spec.settle_ms, numbers[i]);
	}
}

static void number_that_overflows_is_refused(void **state)
{
	static const char *const keys[] = {"settle_ms", "deadline_ms", "siblings"};
	static const char *const numbers[] = {"4294967296", "18446744073709551615",
		"18446744073709551616", "99999999999999999999"};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(keys) * COUNT(numbers); i++) {
		char line[64];

		snprintf(line, sizeof(line), "%s %s", keys[i % COUNT(keys)],
			numbers[i / COUNT(keys)]);
		assert_int_equal(parse_line(&bench, line), LEAST_LINES + 1);
	}
}

static void text_that_is_no_number_is_refused(void **state)
{
	static const char *const values[] = {"", "x", "1x", "0x10", "1.5", "1 ", "1 2"};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		char line[64];

		snprintf(line, sizeof(line), "siblings %s", values[i]);
		assert_int_equal(parse_line(&bench, line), LEAST_LINES + 1);
	}
}

static void negative_number_is_refused(void **state)
{
	static const char *const lines[] = {
		"siblings -1",
		"siblings -18446744073709551615", /* strtoul() takes it for 1 */
		"image /i -1 0 /f",
		"image /i 1 -1 /f",
		"collect n /p -1 0",
		"collect n /p 0 -1",
	};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_int_equal(parse_line(&bench, lines[i]), LEAST_LINES + 1);
}

static void sizes_have_64_bits_and_no_more(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse_line(&bench, "image /i 18446744073709551615 4294967296 /f"), 0);
	assert_true(bench.spec.image[0].size_bytes == UINT64_MAX);
	assert_true(bench.spec.image[0].offset_bytes == UINT64_C(4294967296));
	assert_int_equal(parse_line(&bench, "image /i 18446744073709551616 0 /f"), LEAST_LINES + 1);
	assert_int_equal(
		parse_line(&bench, "collect n /p 0 18446744073709551616"), LEAST_LINES + 1);
}

static void image_of_another_number_of_fields_is_refused(void **state)
{
	static const char *const lines[] = {"image ", "image /i", "image /i 1", "image /i 1 0",
		"image /i 1 0 /f more", "image /i 1 0 /f ", "image /i 1 0  /f"};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_int_equal(parse_line(&bench, lines[i]), LEAST_LINES + 1);
}

static void collect_of_another_number_of_fields_is_refused(void **state)
{
	static const char *const lines[] = {"collect ", "collect n", "collect n /p",
		"collect n /p 0", "collect n /p 0 0 more", "collect n /p 0 0 ",
		"collect n  /p 0 0"};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_int_equal(parse_line(&bench, lines[i]), LEAST_LINES + 1);
}

static void path_that_is_relative_is_refused(void **state)
{
	static const char *const keys[] = {"root", "bridge_root", "bridge_makes"};
	static const char *const paths[] = {"", "subject", "./subject", " /subject"};
	struct bench bench;

	(void)state;
	for (size_t i = 0; i < COUNT(keys) * COUNT(paths); i++) {
		char line[64];

		snprintf(
			line, sizeof(line), "%s %s", keys[i % COUNT(keys)], paths[i / COUNT(keys)]);
		assert_int_equal(parse_line(&bench, line), LEAST_LINES + 1);
	}
}

static void deadline_of_zero_is_refused(void **state)
{
	struct bench bench;

	(void)state;
	assert_int_equal(parse_line(&bench, "deadline_ms 0"), LEAST_LINES + 2);
	assert_int_equal(parse_line(&bench, "file_bytes_max 0"), LEAST_LINES + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_has_a_word_a_line_and_a_last_line_that_ends),
		cmocka_unit_test(command_of_too_many_words_is_refused),
		cmocka_unit_test(repeated_words_keep_their_order_and_end_with_null),
		cmocka_unit_test(word_that_holds_spaces_stays_one_word),
		cmocka_unit_test(word_that_is_empty_stays_a_word),
		cmocka_unit_test(words_up_to_the_limit_are_taken),
		cmocka_unit_test(word_past_the_limit_is_refused),
		cmocka_unit_test(files_up_to_the_limit_are_taken),
		cmocka_unit_test(file_past_the_limit_is_refused),
		cmocka_unit_test(numbers_up_to_the_largest_are_taken),
		cmocka_unit_test(number_that_overflows_is_refused),
		cmocka_unit_test(text_that_is_no_number_is_refused),
		cmocka_unit_test(negative_number_is_refused),
		cmocka_unit_test(sizes_have_64_bits_and_no_more),
		cmocka_unit_test(image_of_another_number_of_fields_is_refused),
		cmocka_unit_test(collect_of_another_number_of_fields_is_refused),
		cmocka_unit_test(path_that_is_relative_is_refused),
		cmocka_unit_test(deadline_of_zero_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
