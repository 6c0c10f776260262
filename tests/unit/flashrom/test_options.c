/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "captured_log.h"
#include "cli.h"
#include "../cases.h"

#define ARGUMENTS_MAX 32

static struct captured_log captured;

/* Parses a command line without the program's name. Spaces separate its words. */
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

static struct options parsed(const char *line)
{
	struct options options;

	assert_int_equal(parse(line, &options), 0);
	return options;
}

static void short_and_long_names_mean_the_same(void)
{
	const struct options brief =
		parsed("-p serprog:ip=h:1 -c X -w f -l m -i a -i b -N -n -f -o log -VV");
	const struct options full =
		parsed("--programmer serprog:ip=h:1 --chip X --write f --layout m --include a "
		       "--include b --noverify-all --noverify --force --output log --verbose "
		       "--verbose");

	assert_int_equal(brief.operation, OPERATION_WRITE);
	assert_int_equal(full.operation, brief.operation);
	assert_int_equal(full.include_count, 2);
	assert_int_equal(full.verbosity, brief.verbosity);
	assert_false(full.verify || full.verify_all || brief.verify || brief.verify_all);
	assert_true(full.force && brief.force);
}

static void values_are_stored_in_their_fields(void)
{
	const struct options options = parsed("-p x -w f -l m -i a -i b --flash-contents old");

	assert_string_equal(options.file, "f");
	assert_string_equal(options.includes[1].name, "b");
	assert_string_equal(options.held_file, "old");
}

static void defaults_verify_and_ask_for_realtime(void)
{
	const struct options options = parsed("-p x");

	assert_int_equal(options.operation, OPERATION_NONE);
	assert_true(options.verify && options.verify_all && options.realtime);
	assert_false(parsed("-p x --no-realtime").realtime);
}

static void option_selects_the_operation(void)
{
	static const struct {
		const char *line;
		enum operation operation;
		const char *file;
	} lines[] = {
		{"--version", OPERATION_VERSION, NULL},
		{"-R", OPERATION_VERSION, NULL},
		{"-h", OPERATION_HELP, NULL},
		{"-L", OPERATION_LIST, NULL},
		{"-p x --flash-size", OPERATION_SIZE, NULL},
		{"-p x --flash-name", OPERATION_NAME, NULL},
		/* The file may be attached or follow. */
		{"-p x -r f", OPERATION_READ, "f"},
		{"-p x -rf", OPERATION_READ, "f"},
		{"-p x --read f", OPERATION_READ, "f"},
		{"-p x --read=f", OPERATION_READ, "f"},
		{"-r f -p x", OPERATION_READ, "f"},
		{"-V -r f -p x", OPERATION_READ, "f"},
	};

	for (size_t i = 0; i < COUNT(lines); i++) {
		const struct options options = parsed(lines[i].line);

		assert_int_equal(options.operation, lines[i].operation);
		if (lines[i].file != NULL)
			assert_string_equal(options.file, lines[i].file);
	}
}

static void file_of_the_chip_is_optional_if_every_region_has_one(void)
{
	struct options options = parsed("-p x -w -l m -i a:fa -i b:/dir/fb");

	assert_null(options.file);
	assert_string_equal(options.includes[0].name, "a");
	assert_string_equal(options.includes[0].file, "fa");
	assert_string_equal(options.includes[1].file, "/dir/fb");
	options = parsed("-p x -w f -l m -i a:fa -i b");
	assert_null(options.includes[1].file);
}

static void invalid_line_is_refused_with_a_remedy(void)
{
	static const struct {
		const char *line, *message;
	} lines[] = {
		{"-p x -r a -w b", "Only one of"},
		{"-p x -E -E", "Only one of"},
		{"-r a", "Add -p"},
		{"", "Add -p"},
		{"--flash-name", "Add -p"},
		{"-p x -o", "-o needs a value"},
		{"-p x --layout", "--layout needs a value"},
		{"-p x -r", "Which file?"},
		{"-p x --write -V", "Which file?"},
		{"-p x -v -l m -i a:fa -i b", "Which file?"},
		{"-p x -E -l m -i a:fa", "needs -r, -w or -v"},
		{"-p x -l m -i a:fa", "needs -r, -w or -v"},
		{"-p x -r f -l m -i :fa", "neither of them empty"},
		{"-p x -r f -l m -i a:", "neither of them empty"},
		{"-p x -r f --flash-contents old", "needs -w"},
		{"-p x --ifd -r f", "--ifd is not supported here"},
		{"-p x --wp-range 0,4", "--wp-range is not supported here"},
		{"-p x --wp-range=0,4", "--wp-range is not supported here"},
		{"-p x --wp-stat", "--wp-status is not supported here"},
		{"-z", "-z is not supported here"},
		{"-p x -r a -i boot", "add -l"},
		{"-p x --wrte f", "--write"},
		{"-p x -Z", "-Z"},
		{"-p x -VVZ", "-Z"},
		{"-p x -r a b", "\"b\""},
		{"-p x -p y", "given twice"},
		{"-p x -c a -c b", "given twice"},
	};

	for (size_t i = 0; i < COUNT(lines); i++) {
		struct options options = {.file = "untouched"};

		assert_int_equal(parse(lines[i].line, &options), -EINVAL);
		assert_true(logged(&captured, lines[i].message));
		assert_string_equal(options.file, "untouched");
	}
}

static const struct CMUnitTest tests[] = {
	CASE(short_and_long_names_mean_the_same),
	CASE(values_are_stored_in_their_fields),
	CASE(defaults_verify_and_ask_for_realtime),
	CASE(option_selects_the_operation),
	CASE(file_of_the_chip_is_optional_if_every_region_has_one),
	CASE(invalid_line_is_refused_with_a_remedy),
};

RUN_CASES(tests)
