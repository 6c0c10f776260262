/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The built-in table: every part has the properties that the drivers rely on. */
#include <stdbool.h>

#include "chip.h"
#include "../cases.h"
#include "memory.h"
#include "spi25.h"

/* A check of each chip of the table. SFDP describes the one that is left out. */
struct check {
	void (*chip)(const struct flash_chip *chip);
};

static void every_chip_is_checked(void **state)
{
	const struct check *check = *state;
	const struct flash_chip *chip;

	for (size_t nth = 0; (chip = chip_at(chip_lists, nth)) != NULL; nth++) {
		if (chip->identify != &spi25_sfdp)
			check->chip(chip);
	}
}

/* Checks that each block of a command begins and ends with blocks of the smaller command. */
static void check_nesting(const struct flash_chip *chip, const struct chip_erase *larger,
	const struct chip_erase *smaller)
{
	uint32_t at = 0;

	while (at < chip->size_bytes) {
		const struct range block = chip_erase_block(larger, at);

		assert_int_equal(block.start, at);
		assert_int_equal(chip_erase_block(smaller, at).start, at);
		assert_int_equal(chip_erase_block(smaller, block.end - 1).end, block.end);
		at = block.end;
	}
	assert_int_equal(at, chip->size_bytes);
}

static void check_geometry(const struct flash_chip *chip)
{
	const size_t count = chip_erase_count(chip);

	assert_int_equal(chip->size_bytes % chip->page_bytes, 0);
	assert_true(count > 0 || chip->overwrites);
	if (count > 0 && !chip->overwrites)
		assert_int_equal(chip_erase_block(&chip->erase[0], 0).end % chip->page_bytes, 0);
	for (size_t i = 1; i < count; i++) {
		assert_true(chip->erase[i].block_bytes > chip->erase[i - 1].block_bytes);
		check_nesting(chip, &chip->erase[i], &chip->erase[i - 1]);
	}
}

static void assert_plausible(struct busy_time busy)
{
	assert_true(busy.typ_us > 0);
	assert_true(busy.max_us >= busy.typ_us);
}

static void check_times(const struct flash_chip *chip)
{
	assert_plausible(chip->program);
	for (size_t i = 0; i < chip_erase_count(chip); i++)
		assert_plausible(chip->erase[i].busy);
	for (size_t i = 1; i < chip_erase_count(chip); i++)
		assert_true(chip->erase[i].busy.typ_us >= chip->erase[i - 1].busy.typ_us);
}

static void check_names(const struct flash_chip *chip)
{
	assert_ptr_equal(chip_by_name(chip_lists, chip->name), chip);
}

static bool is_spi25(const struct flash_chip *chip)
{
	return chip->driver == &spi25_driver || chip->driver == &sst26_driver ||
	       chip->driver == &at25df_driver;
}

/* Checks that the traits of the 25 series fit each other. */
static void check_spi25(const struct flash_chip *chip)
{
	const struct spi25_traits *traits = &chip->spi25;

	if (!is_spi25(chip))
		return;
	assert_true(chip->page_bytes <= SPI25_PAGE_BYTES_MAX);
	assert_true(chip->size_bytes <= 16777216 || traits->addresses != SPI25_ADDRESS_3);
	assert_true(traits->address_mode.opcode == 0 || traits->addresses == SPI25_ADDRESS_4_MODE);
	assert_true((traits->suspended.opcode == 0) == (traits->resume_opcode == 0));
	assert_true((traits->reset == SPI25_RESET_NONE) == (traits->reset_us_max == 0));
	assert_true(traits->failed.opcode == 0x05 || !traits->busy_after_failure);
	assert_true(
		traits->protect_mask_2 == 0 || traits->status_two_bytes || traits->status_2_apart);
	assert_plausible(traits->status_write);
}

/* Before the ID is known, the driver gives each part SPI25_WAKE_US_MAX to wake up. */
static void check_wake(const struct flash_chip *chip)
{
	if (is_spi25(chip))
		assert_true(chip->spi25.wake_us_max <= SPI25_WAKE_US_MAX);
}

static void check_id_wait(const struct flash_chip *chip)
{
	const bool parallel = (chip->buses & BUS_PARALLEL) != 0;

	if (chip->identify == &jedec_id)
		assert_true(chip->jedec.id_wait_us <=
			    (parallel ? JEDEC_ID_US_MAX_PARALLEL : JEDEC_ID_US_MAX));
}

static void unknown_name_finds_the_nearest(void)
{
	assert_null(chip_by_name(chip_lists, "W25Q64FV"));
	assert_non_null(chip_by_name(chip_lists, "sfdp-capable chip"));
	assert_string_equal(
		chip_name_nearest(chip_lists, "W25Q64FV"), "W25Q64BV/W25Q64CV/W25Q64FV");
	assert_string_equal(chip_name_nearest(chip_lists, "m25p81"), "M25P80");
	assert_null(chip_name_nearest(chip_lists, "a gooseberry bush"));
}

#define EVERY(name, check_chip) ROW(every_chip_is_checked, check, name, check_chip)

static const struct CMUnitTest tests[] = {
	EVERY(erase_blocks_nest, check_geometry),
	EVERY(busy_times_are_given_and_ordered, check_times),
	EVERY(names_are_unique, check_names),
	EVERY(traits_of_spi_parts_fit_each_other, check_spi25),
	EVERY(every_part_wakes_within_the_wait_of_identification, check_wake),
	EVERY(every_id_comes_within_the_wait_for_unknown_parts, check_id_wait),
	CASE(unknown_name_finds_the_nearest),
};

RUN_CASES(tests)
