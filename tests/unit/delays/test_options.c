/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../cases.h"
#include "delay_plugin/options.h"

static char *const whole[] = {"machine=arm64", "clock=virtual", "request=/a,b", "out=/c"};

static void all_four_are_read(void)
{
	char error[OPTIONS_ERROR_BYTES];
	struct options options;

	assert_int_equal(options_parse((int)COUNT(whole), whole, &options, error), 0);
	assert_string_equal(options.machine->name, "arm64");
	assert_true(options.is_virtual);
	assert_string_equal(options.request, "/a,b");
	assert_string_equal(options.out, "/c");
}

static void each_missing_one_is_refused(void)
{
	for (size_t i = 0; i < COUNT(whole); i++) {
		char *words[COUNT(whole)], error[OPTIONS_ERROR_BYTES];
		struct options options;

		for (size_t j = 0; j < COUNT(whole); j++)
			words[j] = whole[j];
		words[i] = words[COUNT(whole) - 1];
		assert_int_equal(
			options_parse((int)COUNT(whole) - 1, words, &options, error), -EINVAL);
	}
}

static void bad_words_are_named(void)
{
	static char *const bad[] = {"machine=pdp11", "clock=wall", "request=", "speed=1", "out"};

	for (size_t i = 0; i < COUNT(bad); i++) {
		char error[OPTIONS_ERROR_BYTES];
		struct options options;

		assert_int_equal(options_parse(1, &bad[i], &options, error), -EINVAL);
		assert_string_equal(strrchr(error, ' ') + 1, bad[i]);
	}
}

static void word_that_is_there_twice_is_refused(void)
{
	static char *const twice[] = {"out=/a", "out=/b"};
	char error[OPTIONS_ERROR_BYTES];
	struct options options;

	assert_int_equal(options_parse((int)COUNT(twice), twice, &options, error), -EINVAL);
	assert_non_null(strstr(error, "out=/b"));
}

static const struct CMUnitTest tests[] = {
	CASE(all_four_are_read),
	CASE(each_missing_one_is_refused),
	CASE(bad_words_are_named),
	CASE(word_that_is_there_twice_is_refused),
};

RUN_CASES(tests)
