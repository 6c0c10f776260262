/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../run_cases.h"
#include "delay_plugin/options.h"

static char *const complete[] = {"machine=arm64", "clock=virtual", "request=/a,b", "out=/c"};

TEST(all_arguments_are_read)
{
	char error[OPTIONS_ERROR_BYTES];
	struct options options;

	assert_int_equal(options_parse((int)COUNT(complete), complete, &options, error), 0);
	assert_string_equal(options.machine->name, "arm64");
	assert_true(options.is_virtual);
	assert_string_equal(options.request, "/a,b");
	assert_string_equal(options.out, "/c");
}

TEST(missing_argument_is_refused)
{
	for (size_t i = 0; i < COUNT(complete); i++) {
		char *words[COUNT(complete)], error[OPTIONS_ERROR_BYTES];
		struct options options;

		for (size_t j = 0; j < COUNT(complete); j++)
			words[j] = complete[j];
		words[i] = words[COUNT(complete) - 1];
		assert_int_equal(
			options_parse((int)COUNT(complete) - 1, words, &options, error), -EINVAL);
	}
}

TEST(bad_argument_is_named)
{
	static char *const bad[] = {"machine=pdp11", "clock=wall", "request=", "speed=1", "out"};

	for (size_t i = 0; i < COUNT(bad); i++) {
		char error[OPTIONS_ERROR_BYTES];
		struct options options;

		assert_int_equal(options_parse(1, &bad[i], &options, error), -EINVAL);
		assert_string_equal(strrchr(error, ' ') + 1, bad[i]);
	}
}

TEST(argument_given_twice_is_refused)
{
	static char *const twice[] = {"out=/a", "out=/b"};
	char error[OPTIONS_ERROR_BYTES];
	struct options options;

	assert_int_equal(options_parse((int)COUNT(twice), twice, &options, error), -EINVAL);
	assert_non_null(strstr(error, "out=/b"));
}
