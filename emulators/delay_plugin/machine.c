/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine.h"

#include <string.h>

/* RET, with a prefix or without, and RET imm16. */
static bool is_x86_return(const uint8_t *insn, size_t bytes)
{
	if (bytes == 2)
		return (insn[0] == 0xf3 || insn[0] == 0xf2) && insn[1] == 0xc3;
	return (bytes == 1 && insn[0] == 0xc3) || (bytes == 3 && insn[0] == 0xc2);
}

static bool is_arm64_return(const uint8_t *insn, size_t bytes)
{
	uint32_t word;

	if (bytes != sizeof(word))
		return false;
	word = insn[0] | (uint32_t)insn[1] << 8 | (uint32_t)insn[2] << 16 | (uint32_t)insn[3] << 24;
	return (word & 0xfffffc1f) == 0xd65f0000 || (word & 0xfffffbff) == 0xd65f0bff;
}

/* BX LR in both encodings. Other returns pop PC, with another stack pointer than at entry. */
static bool is_armhf_return(const uint8_t *insn, size_t bytes)
{
	static const uint8_t thumb[] = {0x70, 0x47}, plain[] = {0x1e, 0xff, 0x2f, 0xe1};

	return (bytes == sizeof(thumb) && memcmp(insn, thumb, bytes) == 0) ||
	       (bytes == sizeof(plain) && memcmp(insn, plain, bytes) == 0);
}

/* JALR X0, 0(RA), which is RET, and C.JR RA. */
static bool is_riscv64_return(const uint8_t *insn, size_t bytes)
{
	static const uint8_t plain[] = {0x67, 0x80, 0x00, 0x00}, compressed[] = {0x82, 0x80};

	return (bytes == sizeof(compressed) && memcmp(insn, compressed, bytes) == 0) ||
	       (bytes == sizeof(plain) && memcmp(insn, plain, bytes) == 0);
}

static const struct machine machines[] = {
	{
		.name = "x86_64",
		.word_bytes = 8,
		.sp = "rsp",
		.fp = "rbp",
		.result = "rax",
		.thread = "fs_base",
		.space = "cr3",
		.arguments = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"},
		.is_return = is_x86_return,
	},
	{
		/* QEMU's machine has 64 bits; only the guest's kernel has 32. */
		.name = "i386",
		.word_bytes = 4,
		.sp = "rsp",
		.fp = "rbp",
		.result = "rax",
		.thread = "gs_base",
		.space = "cr3",
		.is_return = is_x86_return,
	},
	{
		.name = "arm64",
		.word_bytes = 8,
		.sp = "sp",
		.fp = "x29",
		.lr = "x30",
		.result = "x0",
		.thread = "TPIDR_EL0",
		.space = "TTBR0_EL1",
		.arguments = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"},
		.is_return = is_arm64_return,
	},
	{
		.name = "armhf",
		.word_bytes = 4,
		.sp = "sp",
		.fp = "r11",
		.lr = "lr",
		.result = "r0",
		.thread = "TPIDRURO",
		.space = "TTBR0",
		.arguments = {"r0", "r1", "r2", "r3"},
		.is_return = is_armhf_return,
		.mode_bit = 1,
	},
	{
		.name = "riscv64",
		.word_bytes = 8,
		.sp = "sp",
		.fp = "fp",
		.lr = "ra",
		.result = "a0",
		.thread = "tp",
		.space = "satp",
		.arguments = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"},
		.is_return = is_riscv64_return,
	},
};

const struct machine *machine_find(const char *name)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (strcmp(machines[i].name, name) == 0)
			return &machines[i];
	}
	return NULL;
}

uint64_t machine_popped(const struct machine *machine)
{
	return machine->lr ? 0 : machine->word_bytes;
}

size_t machine_argument_word(const struct machine *machine, unsigned int argument)
{
	unsigned int in_registers = 0;

	while (in_registers < MACHINE_ARGUMENTS_MAX && machine->arguments[in_registers])
		in_registers++;
	return argument - in_registers + (machine->lr ? 0 : 1);
}
