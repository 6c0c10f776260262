/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NO_CMOCKA_CMOCKA_H
#define NO_CMOCKA_CMOCKA_H

/*
 * Replaces cmocka where its library is missing: 32-bit programs on a 64-bit system. It has what the
 * tests of the delay layer use. A test that fails ends the program.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct CMUnitTest {
	const char *name;
	void (*test_func)(void **state);
	int (*setup_func)(void **state);
	int (*teardown_func)(void **state);
	void *initial_state;
};

#define print_message(...) printf(__VA_ARGS__)

#define assert_true(condition) check((condition), #condition, __FILE__, __LINE__)
#define assert_false(condition) assert_true(!(condition))
#define assert_null(pointer) assert_true((pointer) == NULL)
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_int_equal(a, b) assert_true((long long)(a) == (long long)(b))
#define assert_in_range(value, low, high)                                                          \
	check_range((long long)(value), (long long)(low), (long long)(high), #value, __FILE__,     \
		__LINE__)

static inline void check(int holds, const char *what, const char *file, int line)
{
	if (holds)
		return;
	printf("%s:%d: failed: %s\n", file, line, what);
	exit(EXIT_FAILURE);
}

static inline void check_range(long long value, long long low, long long high, const char *what,
	const char *file, int line)
{
	if (value < low || value > high)
		printf("%lld is not within %lld and %lld\n", value, low, high);
	check(value >= low && value <= high, what, file, line);
}

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
	run_tests((tests), sizeof(tests) / sizeof((tests)[0]))

static inline int run_tests(const struct CMUnitTest *tests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		void *state = tests[i].initial_state;

		printf("%s\n", tests[i].name);
		fflush(stdout);
		if (tests[i].setup_func != NULL)
			assert_int_equal(tests[i].setup_func(&state), 0);
		tests[i].test_func(&state);
		if (tests[i].teardown_func != NULL)
			assert_int_equal(tests[i].teardown_func(&state), 0);
	}
	return 0;
}

#endif
