/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures typed in from the datasheets, beside the generator's way from chips/: one checks the
 * other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/part.h"
#include "model/spi.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

static void assert_figure(struct figure figure, uint64_t ns, enum grade grade)
{
	assert_int_equal(figure.ns, ns);
	assert_int_equal(figure.grade, grade);
}

static void assert_busy(const struct busy_time *busy, uint64_t typ_ns, uint64_t max_ns)
{
	assert_figure(busy->min, typ_ns / 2, GRADE_ASSUMED);
	assert_figure(busy->typ, typ_ns, GRADE_DATASHEET);
	assert_figure(busy->max, max_ns, GRADE_DATASHEET);
}

static void assert_erase(const struct part_erase *erase, uint8_t opcode, uint32_t size_bytes,
	uint64_t typ_ns, uint64_t max_ns)
{
	assert_int_equal(erase->opcode, opcode);
	assert_int_equal(erase->size_bytes, size_bytes);
	assert_busy(&erase->busy, typ_ns, max_ns);
}

static void w25q128jv_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("W25Q128JV");

	(void)state;
	assert_int_equal(part->size_bytes, 16 << 20);
	assert_int_equal(part->page_bytes, 256);
	assert_int_equal(part->spi->rdid[0], 0xEF);
	assert_int_equal(part->spi->rdid[1], 0x40);
	assert_int_equal(part->spi->rdid[2], 0x18);
	assert_int_equal(part->erase_count, 5);
	assert_erase(&part->erases[0], 0x20, 4 << 10, 45 * MS, 400 * MS);
	assert_erase(&part->erases[1], 0x52, 32 << 10, 120 * MS, 1600 * MS);
	assert_erase(&part->erases[2], 0xD8, 64 << 10, 150 * MS, 2 * S);
	assert_erase(&part->erases[3], 0xC7, 16 << 20, 40 * S, 200 * S);
	assert_erase(&part->erases[4], 0x60, 16 << 20, 40 * S, 200 * S);
	assert_busy(&part->spi->page_program, 700 * US, 3 * MS);
	assert_busy(&part->spi->write_status, 10 * MS, 15 * MS);
	assert_figure(part->spi->deep_power_down, 3 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down, 3 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down_with_id, 1800, GRADE_DATASHEET);
	assert_figure(part->spi->soft_reset, 30 * US, GRADE_DATASHEET);
	assert_string_equal(part->flashrom_names[0], "W25Q128.V");
}

static void m25p80_is_as_its_datasheet_says(void **state)
{
	const struct part *part = part_find("M25P80");

	(void)state;
	assert_int_equal(part->size_bytes, 1 << 20);
	assert_int_equal(part->spi->rdid[0], 0x20);
	assert_int_equal(part->spi->rdid[1], 0x20);
	assert_int_equal(part->spi->rdid[2], 0x14);
	assert_int_equal(part->spi->res, 0x13);
	assert_false(part->spi->has_rems);
	assert_int_equal(part->erase_count, 2);
	assert_erase(&part->erases[0], 0xD8, 64 << 10, 600 * MS, 3 * S);
	assert_erase(&part->erases[1], 0xC7, 1 << 20, 8 * S, 20 * S);
	assert_busy(&part->spi->page_program, 640 * US, 5 * MS);
	assert_busy(&part->spi->write_status, 1300 * US, 15 * MS);
	assert_figure(part->spi->deep_power_down, 3 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down, 30 * US, GRADE_DATASHEET);
	assert_figure(part->spi->release_power_down_with_id, 30 * US, GRADE_DATASHEET);
	assert_int_equal(part->spi->soft_reset.ns, 0);
}

static void missing_maximum_is_assumed_from_the_typical(void **state)
{
	const struct busy_time *busy = &part_find("MX25L6436F")->spi->page_program;

	(void)state;
	assert_figure(busy->min, 165 * US, GRADE_ASSUMED);
	assert_figure(busy->typ, 330 * US, GRADE_SECONDARY);
	assert_figure(busy->max, 1320 * US, GRADE_ASSUMED);
}

static void missing_typical_is_assumed_from_the_maximum(void **state)
{
	const struct busy_time *busy = &part_find("AT25SF161")->spi->write_status;

	(void)state;
	assert_figure(busy->min, 3750 * US, GRADE_ASSUMED);
	assert_figure(busy->typ, 7500 * US, GRADE_ASSUMED);
	assert_figure(busy->max, 15 * MS, GRADE_DATASHEET);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(w25q128jv_is_as_its_datasheet_says),
		cmocka_unit_test(m25p80_is_as_its_datasheet_says),
		cmocka_unit_test(missing_maximum_is_assumed_from_the_typical),
		cmocka_unit_test(missing_typical_is_assumed_from_the_maximum),
		cmocka_unit_test(part_is_found_in_any_case_and_misspelt_one_has_a_nearest),
		cmocka_unit_test(corners_of_every_part_are_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
