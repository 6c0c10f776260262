/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results as JSON lines on standard output: each line is whole, and there when its series ends. */
#ifndef LATENCY_LINES_H
#define LATENCY_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "statistics.h"

#define LINES_SCHEMA 1

/* A line is begun with the number of its series, and ended with a newline and a flush. */
void line_begin(FILE *out, unsigned int series);
void line_number(FILE *out, const char *key, int64_t value);
void line_text(FILE *out, const char *key, const char *text);
void line_numbers(FILE *out, const char *key, const int64_t *values, size_t count);
void line_statistics(FILE *out, const struct statistics *statistics);
void line_end(FILE *out);

#endif
