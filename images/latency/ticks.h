/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a CPU's own timer interrupts it: what the tick really does. */
#ifndef LATENCY_TICKS_H
#define LATENCY_TICKS_H

#include <stdint.h>
#include <stdio.h>

#include "series.h"

/*
 * Interrupts of that CPU's own timer, from the text of /proc/interrupts: the row `LOC` of x86, or
 * the one of `arch_timer`. -1 where there is no such row or column.
 */
int64_t ticks_count(FILE *interrupts, int64_t cpu);

/* While the CPU idles, then while this process computes. 0 or a negative errno. */
int ticks_write(const struct series *series, unsigned int number, FILE *out);

#endif
