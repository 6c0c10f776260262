/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How calls differ between architectures: registers by QEMU's names, words of the stack, return
 * instructions. Pure.
 *
 * Sources: System V psABI for x86-64 (3.2) and for i386 (2.2); AAPCS64; Intel SDM vol. 2 (RET); Arm
 * ARM, C6.2 (RET, RETAA, RETAB); RISC-V ELF psABI ("Register Convention"), ISA manual vol. I (JALR,
 * C.JR); QEMU gdb-xml/.
 */
#ifndef EMULATORS_DELAY_PLUGIN_MACHINE_H
#define EMULATORS_DELAY_PLUGIN_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_ARGUMENTS_MAX 8

struct machine {
	const char *name;
	size_t word_bytes;
	const char *sp, *fp;
	const char *lr;     /* NULL: a call leaves its return address on the stack */
	const char *result; /* the register of a function's result */
	const char *thread; /* a register that differs from thread to thread */
	const char *space;  /* a register that differs from process to process */
	const char *arguments[MACHINE_ARGUMENTS_MAX]; /* from the first NULL on: on the stack */
	bool (*is_return)(const uint8_t *insn, size_t bytes);
	uint64_t mode_bit; /* the bit of a return address that selects the instruction set */
};

/* Returns NULL if there is no machine of that name. */
const struct machine *machine_find(const char *name);

/*
 * Returns how many bytes higher the stack pointer is at a call's site than at the function's first
 * instruction.
 */
uint64_t machine_popped(const struct machine *machine);

/* Returns the index, from the stack pointer up, of the word that holds an argument on the stack. */
size_t machine_argument_word(const struct machine *machine, unsigned int argument);

#endif
