/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The built-in table: what the driver takes for granted has to hold for every part. */
#include <stdbool.h>
#include <string.h>

#include "chip.h"
#include "cmocka_headers.h"

static void for_each(void (*check)(const struct flash_chip *chip))
{
	for (const struct chip_list *const *list = chip_lists; *list != NULL; list++) {
		for (size_t i = 0; i < (*list)->count; i++)
			check(&(*list)->chips[i]);
	}
}

static void check_geometry(const struct flash_chip *chip)
{
	const size_t count = chip_erase_count(chip);

	assert_true(chip->size_bytes <= UINT32_C(16) << 20);
	assert_true(count > 0);
	assert_int_equal(chip->erase[0].block_bytes % chip->page_bytes, 0);
	for (size_t i = 1; i < count; i++) {
		assert_true(chip->erase[i].block_bytes > chip->erase[i - 1].block_bytes);
		assert_int_equal(chip->erase[i].block_bytes % chip->erase[i - 1].block_bytes, 0);
	}
	assert_int_equal(chip->erase[count - 1].block_bytes, chip->size_bytes);
}

static void erase_blocks_nest_up_to_whole_chip(void **state)
{
	(void)state;
	for_each(check_geometry);
}

static void assert_plausible(struct busy_time busy)
{
	assert_true(busy.typ_us > 0);
	assert_true(busy.max_us >= busy.typ_us);
}

static void check_times(const struct flash_chip *chip)
{
	assert_plausible(chip->page_program);
	assert_plausible(chip->status_write);
	for (size_t i = 0; i < chip_erase_count(chip); i++)
		assert_plausible(chip->erase[i].busy);
	for (size_t i = 1; i < chip_erase_count(chip); i++)
		assert_true(chip->erase[i].busy.typ_us > chip->erase[i - 1].busy.typ_us);
}

static void busy_times_are_given_and_ordered(void **state)
{
	(void)state;
	for_each(check_times);
}

/* -c finds it, and an ID finds it without -c. */
static void check_names(const struct flash_chip *chip)
{
	assert_ptr_equal(chip_by_name(chip_lists, chip->name), chip);
	assert_ptr_equal(chip_by_id(chip_lists, chip->jedec_id, 0), chip);
	assert_null(chip_by_id(chip_lists, chip->jedec_id, 1));
}

static void names_and_ids_are_unique(void **state)
{
	(void)state;
	for_each(check_names);
}

static void unknown_name_finds_the_nearest(void **state)
{
	(void)state;
	assert_null(chip_by_name(chip_lists, "W25Q64FV"));
	assert_string_equal(
		chip_name_nearest(chip_lists, "W25Q64FV"), "W25Q64BV/W25Q64CV/W25Q64FV");
	assert_string_equal(chip_name_nearest(chip_lists, "m25p08"), "M25P80");
	assert_null(chip_name_nearest(chip_lists, "a gooseberry bush"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(erase_blocks_nest_up_to_whole_chip),
		cmocka_unit_test(busy_times_are_given_and_ordered),
		cmocka_unit_test(names_and_ids_are_unique),
		cmocka_unit_test(unknown_name_finds_the_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
