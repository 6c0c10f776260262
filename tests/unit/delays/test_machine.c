/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../run_cases.h"
#include "delay_plugin/machine.h"

TEST(only_return_instructions_are_returns)
{
	static const struct {
		const char *machine, *name;
		size_t bytes;
		const char *insn;
		bool is_return;
	} rows[] = {
		{"x86_64", "RET", 1, "\xc3", true},
		{"x86_64", "REP RET", 2, "\xf3\xc3", true},
		{"i386", "RET 8", 3, "\xc2\x08\x00", true},
		{"x86_64", "JMP", 2, "\xeb\xc3", false},
		{"x86_64", "IRET", 1, "\xcf", false},
		{"x86_64", "three RETs", 3, "\xc3\xc3\xc3", false},
		{"arm64", "RET", 4, "\xc0\x03\x5f\xd6", true},
		{"arm64", "RET X17", 4, "\x20\x02\x5f\xd6", true},
		{"arm64", "RETAA", 4, "\xff\x0b\x5f\xd6", true},
		{"arm64", "RETAB", 4, "\xff\x0f\x5f\xd6", true},
		{"arm64", "BR X16", 4, "\x00\x02\x1f\xd6", false},
		{"arm64", "BLR X30", 4, "\xc0\x03\x3f\xd6", false},
		{"armhf", "BX LR, Thumb", 2, "\x70\x47", true},
		{"armhf", "BX LR", 4, "\x1e\xff\x2f\xe1", true},
		{"armhf", "POP {R4, PC}", 2, "\x10\xbd", false},
		{"riscv64", "RET", 4, "\x67\x80\x00\x00", true},
		{"riscv64", "C.JR RA", 2, "\x82\x80", true},
		{"riscv64", "JR T1", 4, "\x67\x00\x03\x00", false},
		{"riscv64", "C.JR A5", 2, "\x82\x87", false},
		{"riscv64", "C.JALR RA", 2, "\x82\x90", false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const uint8_t *insn = (const uint8_t *)rows[i].insn;

		if (machine_find(rows[i].machine)->is_return(insn, rows[i].bytes) !=
			rows[i].is_return)
			fail_msg("%s, %s", rows[i].machine, rows[i].name);
	}
}

TEST(return_address_selects_the_instruction_set_on_armhf_alone)
{
	assert_int_equal(machine_find("armhf")->mode_bit, 1);
	assert_int_equal(machine_find("arm64")->mode_bit, 0);
}

TEST(call_pushes_its_return_address_on_x86_alone)
{
	assert_int_equal(machine_popped(machine_find("x86_64")), 8);
	assert_int_equal(machine_popped(machine_find("i386")), 4);
	assert_int_equal(machine_popped(machine_find("arm64")), 0);
	assert_int_equal(machine_popped(machine_find("riscv64")), 0);
}

TEST(arguments_beyond_the_registers_lie_on_the_stack)
{
	assert_int_equal(machine_argument_word(machine_find("i386"), 0), 1);
	assert_int_equal(machine_argument_word(machine_find("i386"), 2), 3);
	assert_int_equal(machine_argument_word(machine_find("x86_64"), 6), 1);
	assert_int_equal(machine_argument_word(machine_find("arm64"), 8), 0);
	assert_int_equal(machine_argument_word(machine_find("riscv64"), 8), 0);
}

TEST(unknown_machine_is_not_found)
{
	assert_null(machine_find("x86"));
}
