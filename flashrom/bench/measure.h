/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdint.h>

#include "waits.h"

#define LENGTHS 4

/** 1, 10, 100 and 1000 us. */
extern const unsigned int bench_lengths_us[LENGTHS];

/** A batch of waits of one kind and length. Overshoot is the time of a wait beyond its length. */
struct batch {
	double overshoot_ns_mean;
	double overshoot_ns_p50;
	double overshoot_ns_p99;
	double overshoot_ns_max;
	double cpu_ns; /* the mean per wait */
};

/** The medians of many batches, for each kind of wait and each length. */
struct table {
	struct batch median[LENGTHS][WAITS];
};

/**
 * Measures `batches` batches of `waits` waits for each kind and length. These take turns, so that
 * other load of the machine affects them equally. Returns 0 or -ENOMEM.
 */
int table_measure(unsigned int batches, unsigned int waits, struct table *out);

#endif
