/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>

#include "measure.h"

/** The measurements at normal priority and, with `has_fifo`, under SCHED_FIFO. */
struct report {
	unsigned int batches;
	unsigned int waits;
	struct table normal;
	struct table fifo;
	bool has_fifo;
};

/** Print a table for people, or one JSON object, to stdout. */
void report_print(const struct report *report);
void report_print_json(const struct report *report);

#endif
