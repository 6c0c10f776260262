/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes what a series asks for and adds it to `line`. 0, or a negative errno with nothing added. */
#ifndef LATENCY_READINGS_H
#define LATENCY_READINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "series.h"
#include "shared/json_line.h"

/* Writes the kernel's statements about its timers, word for word; the reader interprets them. */
int facts_write(const struct series *series, struct json_line *line);

/* Writes the cost of a reading, which is included in every figure of this program. */
int audit_write(const struct series *series, struct json_line *line);

int readings_of_wait(const struct series *series, struct json_line *line);
int readings_of_sweep(const struct series *series, struct json_line *line);
int readings_of_periods(const struct series *series, struct json_line *line);

/*
 * Writes how often a CPU's own timer interrupts it: while it idles, then while this process
 * computes.
 */
int ticks_write(const struct series *series, struct json_line *line);

/* Returns true if a line of /proc/timer_list says how timers are served, not which there are. */
bool facts_keeps(const char *line);

/*
 * Interrupts of that CPU's own timer, from the text of /proc/interrupts: the row `LOC` of x86, or
 * the one of `arch_timer`. -1 where there is no such row or column.
 */
int64_t ticks_count(FILE *interrupts, int64_t cpu);

#endif
