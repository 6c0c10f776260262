/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "delay_plugin/calls.h"

#define BASE UINT64_C(0x555500000000)
#define TEXT_BEGIN 0x1000
#define TEXT_END 0x9000

static struct stack seen(uint64_t first, uint64_t second, uint64_t third)
{
	return (struct stack){
		.base = BASE, .sp = 0x7ffe00, .word_count = 3, .words = {first, second, third}};
}

static unsigned int number(struct stacks *stacks, struct stack stack, bool *is_new)
{
	return stacks_number(stacks, &stack, TEXT_BEGIN, TEXT_END, is_new);
}

static void stack_of_the_same_callers_is_the_same_whatever_else_is_on_it(void **state)
{
	static struct stacks stacks;
	bool is_new;

	(void)state;
	stacks_init(&stacks);
	assert_int_equal(number(&stacks, seen(BASE + 0x1234, 7, BASE + 0x2000), &is_new), 1);
	assert_true(is_new);
	assert_int_equal(number(&stacks, seen(BASE + 0x1234, 99, BASE + 0x2000), &is_new), 1);
	assert_false(is_new);
}

static void other_callers_make_another_stack(void **state)
{
	static struct stacks stacks;
	bool is_new;

	(void)state;
	stacks_init(&stacks);
	number(&stacks, seen(BASE + 0x1234, 7, BASE + 0x2000), &is_new);
	assert_int_equal(number(&stacks, seen(BASE + 0x1234, 7, BASE + 0x2008), &is_new), 2);
	assert_true(is_new);
	assert_int_equal(number(&stacks, seen(BASE + 0x1234, BASE + 0x2000, 7), &is_new), 3);
}

static void file_at_another_place_is_the_same_stack(void **state)
{
	static struct stacks stacks;
	struct stack moved = seen(2 * BASE + 0x1234, 7, 2 * BASE + 0x2000);
	bool is_new;

	(void)state;
	moved.base = 2 * BASE;
	stacks_init(&stacks);
	number(&stacks, seen(BASE + 0x1234, 7, BASE + 0x2000), &is_new);
	assert_int_equal(number(&stacks, moved, &is_new), 1);
}

static void stacks_without_room_have_no_number(void **state)
{
	static struct stacks stacks;
	bool is_new;

	(void)state;
	stacks_init(&stacks);
	for (unsigned int i = 0; i < STACKS_MAX; i++)
		number(&stacks, seen(BASE + TEXT_BEGIN + i, 0, 0), &is_new);
	assert_int_equal(number(&stacks, seen(BASE + TEXT_BEGIN + STACKS_MAX, 0, 0), &is_new), 0);
	assert_false(is_new);
}

static void site_that_a_call_pushes_is_on_top(void **state)
{
	struct stack stack = seen(1, 2, 3);

	(void)state;
	stack_push(&stack, 8, 99);
	assert_int_equal(stack.sp, 0x7ffdf8);
	assert_int_equal(stack.word_count, 4);
	assert_int_equal(stack.words[0], 99);
	assert_int_equal(stack.words[3], 3);
}

static void push_on_a_full_stack_drops_what_is_farthest(void **state)
{
	struct stack stack = {.sp = 0x7ffe00, .word_count = STACK_WORDS_MAX, .words = {7}};

	(void)state;
	stack_push(&stack, 4, 99);
	assert_int_equal(stack.sp, 0x7ffdfc);
	assert_int_equal(stack.word_count, STACK_WORDS_MAX);
	assert_int_equal(stack.words[1], 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stack_of_the_same_callers_is_the_same_whatever_else_is_on_it),
		cmocka_unit_test(other_callers_make_another_stack),
		cmocka_unit_test(file_at_another_place_is_the_same_stack),
		cmocka_unit_test(site_that_a_call_pushes_is_on_top),
		cmocka_unit_test(push_on_a_full_stack_drops_what_is_farthest),
		cmocka_unit_test(stacks_without_room_have_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
