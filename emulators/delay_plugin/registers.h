/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a vCPU's registers and memory while it runs. Calls QEMU. */
#ifndef EMULATORS_DELAYS_REGISTERS_H
#define EMULATORS_DELAYS_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu_plugin/qemu_plugin_api.h"
#include "machine.h"
#include "calls.h"

struct registers {
	const struct machine *machine;
	struct qemu_plugin_array *buffer;
	bool are_known;
	struct qemu_plugin_register *sp, *fp, *lr, *result, *thread, *space;
	struct qemu_plugin_register *arguments[MACHINE_ARGUMENTS_MAX];
};

void registers_init(struct registers *registers, const struct machine *machine);

/* NULL, or the name of one that this QEMU does not have. In a vCPU's thread, before all else. */
const char *registers_find(struct registers *registers);

uint64_t registers_value(struct registers *registers, struct qemu_plugin_register *handle);

/* Where the vCPU is on which stack; the stack pointer as it is. */
struct place registers_place(struct registers *registers);

/* False: something of it is not mapped. */
bool registers_memory(struct registers *registers, uint64_t address, void *to, size_t bytes);

/* As many as are mapped, at most @max. */
size_t registers_words(struct registers *registers, uint64_t address, uint64_t *words, size_t max);

#endif
