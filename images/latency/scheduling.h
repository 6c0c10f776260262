/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a process measures: priority, CPU, timer slack, and the wake-up latency that it holds the
 * machine to. All of it is the process's own and ends with it: nothing is left changed.
 */
#ifndef LATENCY_SCHEDULING_H
#define LATENCY_SCHEDULING_H

#include "series.h"

/* 0, or -errno with the name of the call that was refused in `refused`. */
int scheduling_apply(const struct series *series, const char **refused);

#endif
