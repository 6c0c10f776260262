/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "../cases.h"
#include "erase_plan.h"
#include "fake_chip.h"

#define BYTES 262144

static const struct range whole = {0, BYTES};

struct images {
	uint8_t current[BYTES]; /* zeros at first, like the target */
	uint8_t target[BYTES];
	struct erase_plan plan;
};

static void images_start(struct images *images)
{
	images->plan = (struct erase_plan){0};
}

static void images_stop(struct images *images)
{
	erase_plan_destroy(&images->plan);
}

FIXTURE(images, images_start, images_stop);

static void plan_for(const struct flash_chip *chip, struct images *images, struct range range)
{
	erase_plan_destroy(&images->plan);
	assert_int_equal(
		erase_plan_create(chip, range, images->current, images->target, &images->plan), 0);
}

static void plan(struct images *images, struct range range)
{
	plan_for(&small_chip, images, range);
}

static void assert_step(const struct images *images, size_t nth, uint8_t opcode, uint32_t address)
{
	assert_true(nth < images->plan.count);
	assert_int_equal(images->plan.steps[nth].erase->opcode, opcode);
	assert_int_equal(images->plan.steps[nth].block.start, address);
}

static void equal_images_need_no_erase(struct images *images)
{
	plan(images, whole);
	assert_int_equal(images->plan.count, 0);
	assert_int_equal(images->plan.typ_us, 0);
}

static void scattered_changes_take_small_blocks_in_order(struct images *images)
{
	images->target[0x30000] = 0xff;
	images->target[0x01000] = 0xff;
	plan(images, whole);
	assert_int_equal(images->plan.count, 2);
	assert_step(images, 0, 0x20, 0x01000);
	assert_step(images, 1, 0x20, 0x30000);
}

/* Eight erases of 45 ms take longer than one of 120 ms, and no page needs a program. */
static void many_blank_blocks_take_a_larger_erase(struct images *images)
{
	memset(images->target + 0x8000, 0xff, 0x8000);
	plan(images, whole);
	assert_int_equal(images->plan.count, 1);
	assert_step(images, 0, 0x52, 0x8000);
	assert_int_equal(images->plan.typ_us, 120000);
}

/* Two of eight small blocks take 90 ms; the large one takes 120 ms, and 96 pages to restore. */
static void few_changes_among_data_keep_small_erases(struct images *images)
{
	memset(images->target, 0xff, 0x2000);
	plan(images, whole);
	assert_int_equal(images->plan.count, 2);
	assert_step(images, 0, 0x20, 0x0000);
	assert_step(images, 1, 0x20, 0x1000);
}

static void range_limits_larger_erases(struct images *images)
{
	const struct range range = {0x1000, 0x11000};

	memset(images->target, 0xff, BYTES);
	plan(images, range);
	for (size_t i = 0; i < images->plan.count; i++) {
		const struct erase_step *step = &images->plan.steps[i];

		assert_true(step->block.start >= range.start);
		assert_true(step->block.end <= range.end);
	}
	assert_int_equal(images->plan.count, 9); /* seven of 4 KiB, one of 32, one of 4 */
}

static void clearing_bits_needs_no_erase(struct images *images)
{
	memset(images->current, 0x0f, BYTES);
	memset(images->target, 0x05, BYTES);
	plan(images, whole);
	assert_int_equal(images->plan.count, 0);
	assert_int_equal(images->plan.typ_us, 1024 * 700);
}

/* For the same time, fewer commands are better. */
static void larger_block_that_takes_as_long_as_its_parts_is_preferred(struct images *images)
{
	struct flash_chip even = small_chip;

	even.erase[2].busy.typ_us = 2 * even.erase[1].busy.typ_us;
	memset(images->target, 0x55, 65536);
	plan_for(&even, images, whole);
	assert_int_equal(images->plan.count, 1);
	assert_step(images, 0, 0xd8, 0);
}

/* A blank word of the page may be programmed; a change to a word with data needs an erase. */
static void unit_with_data_is_erased_if_the_part_programs_only_blank_units(struct images *images)
{
	struct flash_chip chip = small_chip;

	chip.blank_only = true;
	chip.program_unit_bytes = 2;
	memset(images->current + 0x1000, 0xff, 0x100);
	memset(images->target + 0x1000, 0xff, 0x100);
	images->current[0x1011] = 0xf0;
	images->target[0x1011] = 0xf0;
	images->target[0x1012] = 0x00;
	plan_for(&chip, images, whole);
	assert_int_equal(images->plan.count, 0);

	images->target[0x1010] = 0x00;
	plan_for(&chip, images, whole);
	assert_int_equal(images->plan.count, 1);
	assert_step(images, 0, 0x20, 0x1000);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(images, equal_images_need_no_erase),
	CASE_ON(images, scattered_changes_take_small_blocks_in_order),
	CASE_ON(images, many_blank_blocks_take_a_larger_erase),
	CASE_ON(images, few_changes_among_data_keep_small_erases),
	CASE_ON(images, range_limits_larger_erases),
	CASE_ON(images, larger_block_that_takes_as_long_as_its_parts_is_preferred),
	CASE_ON(images, clearing_bits_needs_no_erase),
	CASE_ON(images, unit_with_data_is_erased_if_the_part_programs_only_blank_units),
};

RUN_CASES(tests)
