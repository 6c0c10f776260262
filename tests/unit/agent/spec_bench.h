/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A spec as a cell's file would hold it, parsed. Only the tests include this. */
#ifndef TESTS_UNIT_AGENT_SPEC_BENCH_H
#define TESTS_UNIT_AGENT_SPEC_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "spec.h"

/* The smallest valid spec, in five lines. */
#define LEAST                                                                                      \
	"schema 1\n"                                                                               \
	"root /subject\n"                                                                          \
	"deadline_ms 5\n"                                                                          \
	"emulator --chip\n"                                                                        \
	"subject /usr/sbin/flashrom\n"
#define LEAST_LINES 5u

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct bench {
	char text[8192]; /* the text that the spec points into */
	struct spec spec;
};

static inline size_t parse(struct bench *bench, const char *text)
{
	assert_true(strlen(text) < sizeof(bench->text));
	strcpy(bench->text, text);
	return spec_parse(bench->text, &bench->spec);
}

/* Parses the smallest spec with `line` after it. */
static inline size_t parse_line(struct bench *bench, const char *line)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s%s\n", LEAST, line);
	return parse(bench, text);
}

/* Parses the smallest spec with `line` repeated `count` times after it. */
static inline size_t parse_lines(struct bench *bench, const char *line, size_t count)
{
	char text[sizeof(bench->text)] = LEAST;
	size_t used = strlen(text);

	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n", line);
	return parse(bench, text);
}

#endif
