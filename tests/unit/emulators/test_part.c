/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/part.h"

static void part_is_found_in_any_case_and_misspelt_one_has_a_nearest(void **state)
{
	(void)state;
	assert_string_equal(part_find("w25q64fv")->name, "W25Q64FV");
	assert_null(part_find("W25Q64F"));
	assert_string_equal(part_nearest("W25Q64F")->name, "W25Q64FV");
	assert_string_equal(part_nearest("M25P8O")->name, "M25P80");
}

static void corners_of_every_part_are_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < part_table_count; i++) {
		const struct part *part = &part_table[i];

		for (size_t j = 0; j < part->erase_count; j++) {
			const struct busy_time *busy = &part->erases[j].busy;

			assert_true(0 < busy->min.ns);
			assert_true(busy->min.ns < busy->typ.ns);
			assert_true(busy->typ.ns < busy->max.ns);
		}
	}
}

static const struct part_erase uniform = {.opcode = 0xD8, .size_bytes = 65536};

static const struct part_erase uneven = {
	.opcode = 0xD8,
	.size_bytes = 8192,
	.regions = {{2, 8192}, {1, 32768}},
	.region_count = 2,
};

static void assert_block(
	const struct part_erase *erase, uint32_t address, uint32_t begin, uint32_t size_bytes)
{
	struct part_block block;

	assert_true(part_erase_block(erase, address, &block));
	assert_int_equal(block.address, begin);
	assert_int_equal(block.size_bytes, size_bytes);
}

static void block_is_the_one_that_holds_the_address(void **state)
{
	(void)state;
	assert_block(&uniform, 65535, 0, 65536);
	assert_block(&uniform, 65536, 65536, 65536);
	assert_block(&uneven, 8191, 0, 8192);
	assert_block(&uneven, 8192, 8192, 8192);
	assert_block(&uneven, 16384, 16384, 32768);
	assert_block(&uneven, 49151, 16384, 32768);
}

static void there_is_no_block_behind_the_last_region(void **state)
{
	struct part_block block;

	(void)state;
	assert_false(part_erase_block(&uneven, 49152, &block));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(part_is_found_in_any_case_and_misspelt_one_has_a_nearest),
		cmocka_unit_test(corners_of_every_part_are_in_order),
		cmocka_unit_test(block_is_the_one_that_holds_the_address),
		cmocka_unit_test(there_is_no_block_behind_the_last_region),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
