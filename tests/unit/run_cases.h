/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defines main(), which runs all cases of its file. A case names itself once, where it begins:
 *
 *     TEST(situation_and_outcome)                  a case without arguments
 *     TEST_ON(fixture, situation_and_outcome)      a case of that FIXTURE, which gets it started
 *     TEST_ROW(function, type, situation, ...)     calls the function with figures, a `struct type`
 *                                                  in *state
 */
#ifndef RUN_CASES_H
#define RUN_CASES_H

#include <assert.h>

#include "cases.h"

static struct CMUnitTest tests[64]; /* cmocka skips those without a name */
static size_t test_count;
static char **test_argv; /* the arguments of main(), for a @start */

static inline void add_test(const struct CMUnitTest *test)
{
	assert(test_count < COUNT(tests));
	tests[test_count++] = *test;
}

/* Adds a case before main() begins; its state is a `struct type` of the other arguments. */
#define ADD_TEST(name_, run_, start_, stop_, type_, ...)                                           \
	__attribute__((constructor)) static void add_##name_(void)                                 \
	{                                                                                          \
		static struct type_ state = {__VA_ARGS__};                                         \
		add_test(&(struct CMUnitTest){#name_, run_, start_, stop_, &state});               \
	}

#define TEST(name_)                                                                                \
	static void name_(void);                                                                   \
	ADD_TEST(name_, run_plain_case, NULL, NULL, plain_case, name_)                             \
	static void name_(void)

#define TEST_ON(type_, name_)                                                                      \
	static void name_(struct type_ *type_);                                                    \
	ADD_TEST(name_, run_##type_##_case, start_##type_, stop_##type_, type_##_case, name_)      \
	static void name_(struct type_ *type_)

#define TEST_ROW(function_, type_, name_, ...)                                                     \
	ADD_TEST(name_, function_, NULL, NULL, type_, __VA_ARGS__)

int main(int argc, char *argv[])
{
	(void)argc;
	test_argv = argv;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
