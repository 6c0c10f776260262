/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CASES_H
#define CASES_H

/* cmocka.h needs these headers before it, in this order. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A case without a fixture. */
struct plain_case {
	void (*run)(void);
};

static inline void run_plain_case(void **state)
{
	((const struct plain_case *)*state)->run();
}

/*
 * Defines a fixture: each CASE_ON(type, function) gets a zeroed `struct type`. @start prepares it,
 * and @stop cleans up afterwards, even if the case fails. @start asserts what it needs, because an
 * error that cmocka's setup returns says nothing about the reason.
 */
#define FIXTURE(type, start, stop)                                                                 \
	static struct type type##_of_case;                                                         \
                                                                                                   \
	struct type##_case {                                                                       \
		void (*run)(struct type *);                                                        \
	};                                                                                         \
                                                                                                   \
	static int start_##type(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		memset(&type##_of_case, 0, sizeof(type##_of_case));                                \
		start(&type##_of_case);                                                            \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	static int stop_##type(void **state)                                                       \
	{                                                                                          \
		(void)state;                                                                       \
		stop(&type##_of_case);                                                             \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	static void run_##type##_case(void **state)                                                \
	{                                                                                          \
		((const struct type##_case *)*state)->run(&type##_of_case);                        \
	}                                                                                          \
                                                                                                   \
	struct type##_case

/* The @start or @stop of a fixture that needs none. */
#define NOTHING(fixture) ((void)(fixture))

/*
 * Rows of a table of cases: CASE for a function without arguments, CASE_ON for one that gets a
 * fixture, ROW for one that finds its figures, a `struct type`, in *state.
 */
/* clang-format off */
#define CASE(function) {#function, run_plain_case, NULL, NULL, &(struct plain_case){function}}
#define CASE_ON(type, function)                                                                    \
	{#function, run_##type##_case, start_##type, stop_##type, &(struct type##_case){function}}
#define ROW(function, type, name, ...) {#name, function, NULL, NULL, &(struct type){__VA_ARGS__}}
/* clang-format on */

/* Defines main(), which runs the table. */
#define RUN_CASES(tests)                                                                           \
	int main(void)                                                                             \
	{                                                                                          \
		return cmocka_run_group_tests(tests, NULL, NULL);                                  \
	}

#endif
