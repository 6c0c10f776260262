/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU eaters: processes that do nothing but turn. They die with the process that started them. */
#ifndef LATENCY_EATERS_H
#define LATENCY_EATERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
