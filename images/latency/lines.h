/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results as JSON lines on standard output: each line is whole, and there when its series ends. */
#ifndef LATENCY_LINES_H
#define LATENCY_LINES_H

#include <stdio.h>

#include "statistics.h"
#include "text/json_line.h"

#define LINES_SCHEMA 1

/* A line is begun with the number of its series, and ended with a newline and a flush. */
void line_begin(struct json_line *line, FILE *out, unsigned int series);
void line_statistics(struct json_line *line, const struct statistics *statistics);
void line_end(struct json_line *line);

#endif
