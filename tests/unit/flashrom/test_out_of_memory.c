/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A failed allocation is reported by one message, whichever allocation it is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../cases.h"
#include "captured_log.h"
#include "layout.h"
#include "programmer.h"

void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *data, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *data, size_t bytes);
char *__wrap_strdup(const char *text);

/* The n-th allocation from now fails; 0: none. It is global: wrapped functions have no context. */
static unsigned int countdown;

static bool fails(void)
{
	return countdown > 0 && --countdown == 0;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *data, size_t bytes)
{
	return fails() ? NULL : __real_realloc(data, bytes);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

struct scene {
	struct captured_log captured;
	struct log log;
};

static void start(struct scene *scene)
{
	scene->log = captured_log(&scene->captured);
}

FIXTURE(scene, start, NOTHING);

/* Asserts that the result is -ENOMEM with one message, and clears the message. */
static void assert_reported(struct scene *scene, int error)
{
	assert_int_equal(countdown, 0);
	assert_int_equal(error, -ENOMEM);
	assert_true(logged(&scene->captured, "Out of memory for "));
	assert_string_equal(strchr(scene->captured.text, '\n'), "\n");
	memset(&scene->captured, 0, sizeof(scene->captured));
}

static void layout_without_memory_for_its_regions_is_reported(struct scene *scene)
{
	char text[] = "0:1 a\n2:3 b\n";
	struct layout layout;

	for (unsigned int nth = 1; nth <= 4; nth++) {
		FILE *file = fmemopen(text, strlen(text), "r");

		assert_non_null(file);
		countdown = nth;
		assert_reported(scene, layout_parse(file, "a file", &scene->log, &layout));
		fclose(file);
	}
}

static void ranges_without_memory_are_reported(struct scene *scene)
{
	const struct layout layout = {0};
	struct range *ranges;
	size_t count;

	countdown = 1;
	assert_reported(scene, layout_ranges(&layout, 1, &scene->log, &ranges, &count));
}

static void programmer_without_memory_is_reported(struct scene *scene)
{
	static const struct {
		const char *spec;
		unsigned int allocations;
	} rows[] = {
		{"dummy:emulate=M25P80,image=/nowhere,fault=nak@1", 5},
		{"linux_spi:dev=/dev/null", 1},
		{"serprog:ip=localhost:1", 2},
		{"serprog:dev=/dev/null", 3},
	};
	struct programmer *programmer;

	for (size_t i = 0; i < COUNT(rows); i++) {
		for (unsigned int nth = 1; nth <= rows[i].allocations; nth++) {
			countdown = nth;
			assert_reported(scene, programmer_open(rows[i].spec, &system_clock,
						       &scene->log, &programmer));
		}
	}
}

static const struct CMUnitTest tests[] = {
	CASE_ON(scene, layout_without_memory_for_its_regions_is_reported),
	CASE_ON(scene, ranges_without_memory_are_reported),
	CASE_ON(scene, programmer_without_memory_is_reported),
};

RUN_CASES(tests)
