/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watch over the running guest: selects the blocks that QEMU instruments, and records the calls
 * there. It selects as few as possible, because instrumentation can make blocks end elsewhere,
 * which changes the run of the guest.
 */
#ifndef EMULATORS_DELAY_PLUGIN_WATCH_H
#define EMULATORS_DELAY_PLUGIN_WATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu_plugin/qemu_plugin_api.h"
#include "machine.h"
#include "record.h"
#include "request.h"

/* Reads a vCPU's registers and memory while it runs (registers.c). */
struct registers {
	const struct machine *machine;
	struct qemu_plugin_array *buffer;
	bool are_known;
	struct qemu_plugin_register *sp, *fp, *lr, *result, *thread, *space;
	struct qemu_plugin_register *arguments[MACHINE_ARGUMENTS_MAX];
};

void registers_init(struct registers *registers, const struct machine *machine);

/*
 * Finds the handles of the registers. Call it in a vCPU's thread, before the functions below.
 * Returns NULL, or the name of a register that this QEMU does not have.
 */
const char *registers_find(struct registers *registers);

uint64_t registers_value(struct registers *registers, struct qemu_plugin_register *handle);

/* Returns the current process, thread and stack pointer of the vCPU. */
struct place registers_place(struct registers *registers);

/* Returns false if a part of the memory is not mapped. */
bool registers_memory(struct registers *registers, uint64_t address, void *to, size_t bytes);

/* Reads @max words, or the first half, quarter ... if not all are mapped. Returns their number. */
size_t registers_words(struct registers *registers, uint64_t address, uint64_t *words, size_t max);

#define WATCH_LOADED_MAX 64
#define WATCH_CPUS_MAX 64

/* The address of a function in a process, which can differ each time its file is loaded. */
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
	bool is_full; /* the output file is full, and no more is recorded */
	struct request request;
	struct calls calls;
	struct stacks stacks;
	size_t loaded_count;
	struct loaded loaded[WATCH_LOADED_MAX];
	uint64_t fresh[WATCH_CPUS_MAX]; /* the last call that began on each CPU */
};

/* Opens the two files. Returns 0 or a negative errno. */
int watch_init(struct watch *watch, const struct machine *machine, int64_t (*now_ns)(void),
	const char *request_path, const char *out_path);

/* Instruments a block that QEMU translates; call it for every block. */
void watch_block(struct watch *watch, struct qemu_plugin_tb *block);

#endif
