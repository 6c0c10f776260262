/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../cases.h"
#include "delay_plugin/machine.h"

static bool is_return(const char *machine, const char *insn, size_t bytes)
{
	return machine_find(machine)->is_return((const uint8_t *)insn, bytes);
}

static void x86_returns_are_known_with_prefix_and_with_immediate(void)
{
	assert_true(is_return("x86_64", "\xc3", 1));
	assert_true(is_return("x86_64", "\xf3\xc3", 2));
	assert_true(is_return("i386", "\xc2\x08\x00", 3));
}

static void x86_jumps_and_other_bytes_are_no_returns(void)
{
	assert_false(is_return("x86_64", "\xeb\xc3", 2));
	assert_false(is_return("x86_64", "\xcf", 1));
	assert_false(is_return("x86_64", "\xc3\xc3\xc3", 3));
}

static void arm64_returns_are_known_plain_and_authenticated(void)
{
	assert_true(is_return("arm64", "\xc0\x03\x5f\xd6", 4));
	assert_true(is_return("arm64", "\x20\x02\x5f\xd6", 4));
	assert_true(is_return("arm64", "\xff\x0b\x5f\xd6", 4));
	assert_true(is_return("arm64", "\xff\x0f\x5f\xd6", 4));
	assert_false(is_return("arm64", "\x00\x02\x1f\xd6", 4));
	assert_false(is_return("arm64", "\xc0\x03\x3f\xd6", 4));
}

static void armhf_returns_are_known_in_both_instruction_sets(void)
{
	assert_true(is_return("armhf", "\x70\x47", 2));
	assert_true(is_return("armhf", "\x1e\xff\x2f\xe1", 4));
	assert_false(is_return("armhf", "\x10\xbd", 2));
	assert_int_equal(machine_find("armhf")->mode_bit, 1);
	assert_int_equal(machine_find("arm64")->mode_bit, 0);
}

static void riscv64_returns_are_known_whole_and_compressed(void)
{
	assert_true(is_return("riscv64", "\x67\x80\x00\x00", 4));
	assert_true(is_return("riscv64", "\x82\x80", 2));
	/* JR T1, C.JR A5 and C.JALR RA are no returns. */
	assert_false(is_return("riscv64", "\x67\x00\x03\x00", 4));
	assert_false(is_return("riscv64", "\x82\x87", 2));
	assert_false(is_return("riscv64", "\x82\x90", 2));
}

static void call_leaves_a_word_on_the_stack_but_on_arm64_and_riscv64(void)
{
	assert_int_equal(machine_popped(machine_find("x86_64")), 8);
	assert_int_equal(machine_popped(machine_find("i386")), 4);
	assert_int_equal(machine_popped(machine_find("arm64")), 0);
	assert_int_equal(machine_popped(machine_find("riscv64")), 0);
}

static void arguments_beyond_the_registers_lie_on_the_stack(void)
{
	assert_int_equal(machine_argument_word(machine_find("i386"), 0), 1);
	assert_int_equal(machine_argument_word(machine_find("i386"), 2), 3);
	assert_int_equal(machine_argument_word(machine_find("x86_64"), 6), 1);
	assert_int_equal(machine_argument_word(machine_find("arm64"), 8), 0);
	assert_int_equal(machine_argument_word(machine_find("riscv64"), 8), 0);
}

static void unknown_machine_is_not_found(void)
{
	assert_null(machine_find("x86"));
}

static const struct CMUnitTest tests[] = {
	CASE(x86_returns_are_known_with_prefix_and_with_immediate),
	CASE(x86_jumps_and_other_bytes_are_no_returns),
	CASE(arm64_returns_are_known_plain_and_authenticated),
	CASE(armhf_returns_are_known_in_both_instruction_sets),
	CASE(riscv64_returns_are_known_whole_and_compressed),
	CASE(call_leaves_a_word_on_the_stack_but_on_arm64_and_riscv64),
	CASE(arguments_beyond_the_registers_lie_on_the_stack),
	CASE(unknown_machine_is_not_found),
};

RUN_CASES(tests)
