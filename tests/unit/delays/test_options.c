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

#include "delay_plugin/options.h"

#define COUNT(words) ((int)(sizeof(words) / sizeof((words)[0])))

static char *const whole[] = {"machine=arm64", "clock=virtual", "request=/a,b", "out=/c"};

static void all_four_are_read(void **state)
{
	char error[OPTIONS_ERROR_BYTES];
	struct options options;

	(void)state;
	assert_int_equal(options_parse(COUNT(whole), whole, &options, error), 0);
	assert_string_equal(options.machine->name, "arm64");
	assert_true(options.is_virtual);
	assert_string_equal(options.request, "/a,b");
	assert_string_equal(options.out, "/c");
}

static void each_missing_one_is_refused(void **state)
{
	(void)state;
	for (int i = 0; i < COUNT(whole); i++) {
		char *words[COUNT(whole)], error[OPTIONS_ERROR_BYTES];
		struct options options;

		for (int j = 0; j < COUNT(whole); j++)
			words[j] = whole[j];
		words[i] = words[COUNT(whole) - 1];
		assert_int_equal(options_parse(COUNT(whole) - 1, words, &options, error), -EINVAL);
	}
}

static void bad_words_are_named(void **state)
{
	static char *const bad[] = {"machine=pdp11", "clock=wall", "request=", "speed=1", "out"};

	(void)state;
	for (int i = 0; i < COUNT(bad); i++) {
		char error[OPTIONS_ERROR_BYTES];
		struct options options;

		assert_int_equal(options_parse(1, &bad[i], &options, error), -EINVAL);
		assert_non_null(strstr(error, bad[i]));
	}
}

static void word_that_is_there_twice_is_refused(void **state)
{
	static char *const twice[] = {"out=/a", "out=/b"};
	char error[OPTIONS_ERROR_BYTES];
	struct options options;

	(void)state;
	assert_int_equal(options_parse(COUNT(twice), twice, &options, error), -EINVAL);
	assert_non_null(strstr(error, "out=/b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_four_are_read),
		cmocka_unit_test(each_missing_one_is_refused),
		cmocka_unit_test(bad_words_are_named),
		cmocka_unit_test(word_that_is_there_twice_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
