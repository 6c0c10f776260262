/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "watch.h"

#include <string.h>

void registers_init(struct registers *registers, const struct machine *machine)
{
	*registers = (struct registers){.machine = machine, .buffer = g_byte_array_new()};
}

static struct qemu_plugin_register *handle_of(
	const struct qemu_plugin_array *all, const char *name, const char **missing)
{
	const qemu_plugin_reg_descriptor *each = all->data;

	for (unsigned int i = 0; name && i < all->len; i++) {
		if (strcmp(each[i].name, name) == 0)
			return each[i].handle;
	}
	if (name)
		*missing = name;
	return NULL;
}

const char *registers_find(struct registers *registers)
{
	const struct machine *machine = registers->machine;
	const struct qemu_plugin_array *all;
	const char *missing = NULL;

	if (registers->are_known)
		return NULL;
	all = qemu_plugin_get_registers();
	registers->sp = handle_of(all, machine->sp, &missing);
	registers->fp = handle_of(all, machine->fp, &missing);
	registers->lr = handle_of(all, machine->lr, &missing);
	registers->result = handle_of(all, machine->result, &missing);
	registers->thread = handle_of(all, machine->thread, &missing);
	registers->space = handle_of(all, machine->space, &missing);
	for (size_t i = 0; i < MACHINE_ARGUMENTS_MAX; i++)
		registers->arguments[i] = handle_of(all, machine->arguments[i], &missing);
	registers->are_known = !missing;
	return missing;
}

uint64_t registers_value(struct registers *registers, struct qemu_plugin_register *handle)
{
	struct qemu_plugin_array *bytes = g_byte_array_set_size(registers->buffer, 0);
	uint64_t value = 0;

	if (qemu_plugin_read_register(handle, bytes) > 0)
		memcpy(&value, bytes->data,
			bytes->len < sizeof(value) ? bytes->len : sizeof(value));
	return value;
}

struct place registers_place(struct registers *registers)
{
	return (struct place){
		.space = registers_value(registers, registers->space),
		.thread = registers_value(registers, registers->thread),
		.sp = registers_value(registers, registers->sp),
	};
}

bool registers_memory(struct registers *registers, uint64_t address, void *to, size_t bytes)
{
	if (!qemu_plugin_read_memory_vaddr(address, registers->buffer, bytes))
		return false;
	memcpy(to, registers->buffer->data, bytes);
	return true;
}

size_t registers_words(struct registers *registers, uint64_t address, uint64_t *words, size_t max)
{
	size_t size = registers->machine->word_bytes;

	while (max > 0 && !qemu_plugin_read_memory_vaddr(address, registers->buffer, max * size))
		max /= 2;
	for (size_t i = 0; i < max; i++) {
		words[i] = 0;
		memcpy(&words[i], (const char *)registers->buffer->data + i * size, size);
	}
	return max;
}
