/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a process measures: priority, CPU, timer slack, the wake-up latency that it holds the machine
 * to, and CPU eaters beside it, which do nothing but turn. All of it ends with the process: nothing
 * is left changed.
 */
#ifndef LATENCY_SCHEDULING_H
#define LATENCY_SCHEDULING_H

#include <stddef.h>
#include <sys/types.h>

#include "series.h"

/* 0, or -errno with the name of the call that was refused in `refused`. */
int scheduling_apply(const struct series *series, const char **refused);

#define EATERS_MAX 4096

struct eaters {
	pid_t pid[EATERS_MAX];
	size_t count;
};

/*
 * Starts `each` on every CPU that this process may use, at normal priority; on `wanted` alone where
 * that is none of those. 0 or -errno.
 */
int eaters_start(struct eaters *eaters, int64_t each, int64_t wanted);

/* They are gone when this returns. */
void eaters_end(struct eaters *eaters);

#endif
