/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "captured_log.h"
#include "cli.h"
#include "cmocka_headers.h"

#define ARGUMENTS_MAX 32

static struct captured_log captured;

/* Parses a command line without the program's name, in which single blanks separate the words. */
static int parse(const char *line, struct options *options)
{
	static char words[256];
	const struct log log = captured_log(&captured);
	char *argv[ARGUMENTS_MAX] = {(char *)(uintptr_t)"flashrom"};
	char *rest = NULL;
	int argc = 1;

	captured = (struct captured_log){0};
	assert_true(strlen(line) < sizeof(words));
	strcpy(words, line);
	for (char *word = strtok_r(words, " ", &rest); word != NULL;
		word = strtok_r(NULL, " ", &rest)) {
		assert_true(argc < ARGUMENTS_MAX);
		argv[argc++] = word;
	}
	return options_parse(argc, argv, &log, options);
}

static void assert_refused(const char *line, const char *message)
{
	struct options options = {.file = "untouched"};

	assert_int_equal(parse(line, &options), -EINVAL);
	assert_true(logged(&captured, message));
	assert_string_equal(options.file, "untouched");
}

static void short_and_long_names_mean_the_same(void **state)
{
	struct options brief, full;

	(void)state;
	assert_int_equal(
		parse("-p serprog:ip=h:1 -c X -w f -l m -i a -i b -N -n -f -o log -VV", &brief), 0);
	assert_int_equal(brief.operation, OPERATION_WRITE);
	assert_string_equal(brief.file, "f");
	assert_string_equal(brief.includes[1].name, "b");
	assert_int_equal(parse("--programmer serprog:ip=h:1 --chip X --write f --layout m "
			       "--include a --include b --noverify-all --noverify --force "
			       "--output log --verbose --verbose",
				 &full),
		0);
	assert_int_equal(full.operation, brief.operation);
	assert_int_equal(full.include_count, 2);
	assert_int_equal(full.verbosity, brief.verbosity);
	assert_false(full.verify || full.verify_all || brief.verify || brief.verify_all);
	assert_true(full.force && brief.force);
}

static void defaults_verify_and_ask_for_realtime(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(parse("-p x", &options), 0);
	assert_int_equal(options.operation, OPERATION_NONE);
	assert_true(options.verify && options.verify_all && options.realtime);
	assert_int_equal(parse("-p x --no-realtime", &options), 0);
	assert_false(options.realtime);
}

static void version_and_help_need_no_programmer(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(parse("--version", &options), 0);
	assert_int_equal(options.operation, OPERATION_VERSION);
	assert_int_equal(parse("-R", &options), 0);
	assert_int_equal(options.operation, OPERATION_VERSION);
	assert_int_equal(parse("-h", &options), 0);
	assert_int_equal(parse("-L", &options), 0);
}

static void two_operations_are_refused(void **state)
{
	(void)state;
	assert_refused("-p x -r a -w b", "Only one of");
	assert_refused("-p x -E -E", "Only one of");
}

static void missing_programmer_is_refused(void **state)
{
	(void)state;
	assert_refused("-r a", "Add -p");
	assert_refused("", "Add -p");
}

static void missing_value_is_refused(void **state)
{
	(void)state;
	assert_refused("-p x -o", "-o needs a value");
	assert_refused("-p x --layout", "--layout needs a value");
}

static void image_file_may_be_attached_or_follow(void **state)
{
	static const char *const lines[] = {"-p x -r f", "-p x -rf", "-p x --read f",
		"-p x --read=f", "-r f -p x", "-V -r f -p x"};
	struct options options;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse(lines[i], &options), 0);
		assert_int_equal(options.operation, OPERATION_READ);
		assert_string_equal(options.file, "f");
	}
}

static void missing_file_is_refused(void **state)
{
	(void)state;
	assert_refused("-p x -r", "Which file?");
	assert_refused("-p x --write -V", "Which file?");
	assert_refused("-p x -v -l m -i a:fa -i b", "Which file?");
}

static void files_of_all_regions_make_that_of_the_chip_needless(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(parse("-p x -w -l m -i a:fa -i b:/dir/fb", &options), 0);
	assert_null(options.file);
	assert_string_equal(options.includes[0].name, "a");
	assert_string_equal(options.includes[0].file, "fa");
	assert_string_equal(options.includes[1].file, "/dir/fb");
	assert_int_equal(parse("-p x -w f -l m -i a:fa -i b", &options), 0);
	assert_null(options.includes[1].file);
}

static void file_of_a_region_without_use_is_refused(void **state)
{
	(void)state;
	assert_refused("-p x -E -l m -i a:fa", "needs -r, -w or -v");
	assert_refused("-p x -l m -i a:fa", "needs -r, -w or -v");
	assert_refused("-p x -r f -l m -i :fa", "neither of them empty");
	assert_refused("-p x -r f -l m -i a:", "neither of them empty");
}

static void contents_known_beforehand_serve_a_write_only(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(parse("-p x -w f --flash-contents old", &options), 0);
	assert_string_equal(options.held_file, "old");
	assert_refused("-p x -r f --flash-contents old", "needs -w");
}

static void questions_about_the_chip_are_operations(void **state)
{
	struct options options;

	(void)state;
	assert_int_equal(parse("-p x --flash-size", &options), 0);
	assert_int_equal(options.operation, OPERATION_SIZE);
	assert_int_equal(parse("-p x --flash-name", &options), 0);
	assert_int_equal(options.operation, OPERATION_NAME);
	assert_refused("--flash-name", "Add -p");
}

static void option_of_flashrom_alone_is_called_so(void **state)
{
	(void)state;
	assert_refused("-p x --ifd -r f", "--ifd is not supported here");
	assert_refused("-p x --wp-range 0,4", "--wp-range is not supported here");
	assert_refused("-p x --wp-range=0,4", "--wp-range is not supported here");
	assert_refused("-p x --wp-stat", "--wp-status is not supported here");
	assert_refused("-z", "-z is not supported here");
}

static void region_without_layout_is_refused(void **state)
{
	(void)state;
	assert_refused("-p x -r a -i boot", "add -l");
}

static void unknown_option_names_the_nearest(void **state)
{
	(void)state;
	assert_refused("-p x --wrte f", "--write");
	assert_refused("-p x -Z", "-Z");
	assert_refused("-p x -VVZ", "-Z");
}

static void stray_word_is_refused(void **state)
{
	(void)state;
	assert_refused("-p x -r a b", "\"b\"");
}

static void value_given_twice_is_refused(void **state)
{
	(void)state;
	assert_refused("-p x -p y", "given twice");
	assert_refused("-p x -c a -c b", "given twice");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_and_long_names_mean_the_same),
		cmocka_unit_test(defaults_verify_and_ask_for_realtime),
		cmocka_unit_test(version_and_help_need_no_programmer),
		cmocka_unit_test(two_operations_are_refused),
		cmocka_unit_test(missing_programmer_is_refused),
		cmocka_unit_test(missing_value_is_refused),
		cmocka_unit_test(image_file_may_be_attached_or_follow),
		cmocka_unit_test(missing_file_is_refused),
		cmocka_unit_test(files_of_all_regions_make_that_of_the_chip_needless),
		cmocka_unit_test(file_of_a_region_without_use_is_refused),
		cmocka_unit_test(contents_known_beforehand_serve_a_write_only),
		cmocka_unit_test(questions_about_the_chip_are_operations),
		cmocka_unit_test(option_of_flashrom_alone_is_called_so),
		cmocka_unit_test(region_without_layout_is_refused),
		cmocka_unit_test(unknown_option_names_the_nearest),
		cmocka_unit_test(stray_word_is_refused),
		cmocka_unit_test(value_given_twice_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
