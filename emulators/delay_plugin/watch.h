/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks on while the guest runs: which blocks to be called at, and what is told of a call. Calls
 * QEMU. Few blocks are instrumented: more would move the ends of blocks, and with them the guest.
 */
#ifndef EMULATORS_DELAYS_WATCH_H
#define EMULATORS_DELAYS_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls.h"
#include "machine.h"
#include "record.h"
#include "registers.h"
#include "mapped_file.h"
#include "stacks.h"
#include "request.h"

#define WATCH_LOADED_MAX 64
#define WATCH_SITES_MAX 2048
#define WATCH_CPUS_MAX 64

/* Where a function lies in a process: its file is at another place each time it is loaded. */
struct loaded {
	unsigned int function;
	uint64_t entry;
};

struct watch {
	pthread_mutex_t lock; /* vCPUs may have a thread each */
	const struct machine *machine;
	int64_t (*now_ns)(void);
	struct request_file file;
	struct mapped_file mapped_file;
	struct registers registers;

	/* The state of this cell. */
	bool is_full; /* the file is, and no more is recorded */
	struct request request;
	struct calls calls;
	struct stacks stacks;
	size_t loaded_count;
	struct loaded loaded[WATCH_LOADED_MAX];
	size_t site_count;
	uint64_t sites[WATCH_SITES_MAX]; /* seen as return addresses of calls */
	uint64_t fresh[WATCH_CPUS_MAX];  /* the last call that began on each */
};

/* A negative errno, or -EINVAL. */
int watch_init(struct watch *watch, const struct machine *machine, int64_t (*now_ns)(void),
	const char *request_path, const char *out_path);

/* For the callback that QEMU has for every block that it translates. */
void watch_block(struct watch *watch, struct qemu_plugin_tb *block);

#endif
