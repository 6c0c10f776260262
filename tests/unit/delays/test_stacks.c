/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../cases.h"
#include "delay_plugin/record.h"

#define BASE UINT64_C(0x555500000000)
#define TEXT_BEGIN 0x1000
#define TEXT_END 0x9000

FIXTURE(stacks, stacks_init, NOTHING);

static struct stack seen(uint64_t first, uint64_t second, uint64_t third)
{
	return (struct stack){
		.base = BASE, .sp = 0x7ffe00, .word_count = 3, .words = {first, second, third}};
}

static unsigned int number(struct stacks *stacks, struct stack stack, bool *is_new)
{
	return stacks_number(stacks, &stack, TEXT_BEGIN, TEXT_END, is_new);
}

static void stack_of_the_same_callers_is_the_same_whatever_else_is_on_it(struct stacks *stacks)
{
	bool is_new;

	assert_int_equal(number(stacks, seen(BASE + 0x1234, 7, BASE + 0x2000), &is_new), 1);
	assert_true(is_new);
	assert_int_equal(number(stacks, seen(BASE + 0x1234, 99, BASE + 0x2000), &is_new), 1);
	assert_false(is_new);
}

static void other_callers_make_another_stack(struct stacks *stacks)
{
	bool is_new;

	number(stacks, seen(BASE + 0x1234, 7, BASE + 0x2000), &is_new);
	assert_int_equal(number(stacks, seen(BASE + 0x1234, 7, BASE + 0x2008), &is_new), 2);
	assert_true(is_new);
	assert_int_equal(number(stacks, seen(BASE + 0x1234, BASE + 0x2000, 7), &is_new), 3);
}

static void file_at_another_place_is_the_same_stack(struct stacks *stacks)
{
	struct stack moved = seen(2 * BASE + 0x1234, 7, 2 * BASE + 0x2000);
	bool is_new;

	moved.base = 2 * BASE;
	number(stacks, seen(BASE + 0x1234, 7, BASE + 0x2000), &is_new);
	assert_int_equal(number(stacks, moved, &is_new), 1);
}

static void stacks_without_room_have_no_number(struct stacks *stacks)
{
	bool is_new;

	for (unsigned int i = 0; i < STACKS_MAX; i++)
		number(stacks, seen(BASE + TEXT_BEGIN + i, 0, 0), &is_new);
	assert_int_equal(number(stacks, seen(BASE + TEXT_BEGIN + STACKS_MAX, 0, 0), &is_new), 0);
	assert_false(is_new);
}

static void site_that_a_call_pushes_is_on_top(void)
{
	struct stack stack = seen(1, 2, 3);

	stack_push(&stack, 8, 99);
	assert_int_equal(stack.sp, 0x7ffdf8);
	assert_int_equal(stack.word_count, 4);
	assert_int_equal(stack.words[0], 99);
	assert_int_equal(stack.words[3], 3);
}

static void push_on_a_full_stack_drops_what_is_farthest(void)
{
	struct stack stack = {.sp = 0x7ffe00, .word_count = STACK_WORDS_MAX, .words = {7}};

	stack_push(&stack, 4, 99);
	assert_int_equal(stack.sp, 0x7ffdfc);
	assert_int_equal(stack.word_count, STACK_WORDS_MAX);
	assert_int_equal(stack.words[1], 7);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(stacks, stack_of_the_same_callers_is_the_same_whatever_else_is_on_it),
	CASE_ON(stacks, other_callers_make_another_stack),
	CASE_ON(stacks, file_at_another_place_is_the_same_stack),
	CASE(site_that_a_call_pushes_is_on_top),
	CASE(push_on_a_full_stack_drops_what_is_farthest),
	CASE_ON(stacks, stacks_without_room_have_no_number),
};

RUN_CASES(tests)
