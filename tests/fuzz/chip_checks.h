/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the facts that a chip reports about itself and that drivers rely on. */
#ifndef TESTS_FUZZ_CHIP_CHECKS_H
#define TESTS_FUZZ_CHIP_CHECKS_H

#include "chip.h"
#include "fuzz.h"
#include "spi25.h"

/* Checks pages and their program times; the driver has room for @page_bytes_max. */
static inline void check_pages(const struct flash_chip *chip, uint32_t page_bytes_max)
{
	FUZZ_CHECK(chip->page_bytes > 0 && chip->page_bytes <= page_bytes_max);
	FUZZ_CHECK(chip->size_bytes > 0 && chip->size_bytes % chip->page_bytes == 0);
	FUZZ_CHECK(chip->program.typ_us > 0 && chip->program.typ_us <= chip->program.max_us);
}

static inline void check_erases(const struct flash_chip *chip)
{
	const size_t count = chip_erase_count(chip);

	FUZZ_CHECK(count > 0 && count <= CHIP_ERASES_MAX);
	for (size_t i = 0; i < count; i++) {
		const struct chip_erase *erase = &chip->erase[i];

		FUZZ_CHECK(erase->block_bytes % chip->page_bytes == 0);
		FUZZ_CHECK(chip->size_bytes % erase->block_bytes == 0);
		FUZZ_CHECK(i == 0 || erase->block_bytes % chip->erase[i - 1].block_bytes == 0);
		FUZZ_CHECK(i == 0 || erase->block_bytes > chip->erase[i - 1].block_bytes);
		FUZZ_CHECK(erase->busy.typ_us > 0 && erase->busy.typ_us <= erase->busy.max_us);
	}
}

/* Checks a chip whose facts come from SFDP only. */
static inline void check_sfdp_chip(const struct flash_chip *chip)
{
	check_pages(chip, SPI25_PAGE_BYTES_MAX);
	check_erases(chip);
	FUZZ_CHECK(chip->size_bytes >= 4096 && chip->size_bytes <= UINT32_C(64) << 20);
	FUZZ_CHECK(chip->erase[chip_erase_count(chip) - 1].block_bytes == chip->size_bytes);
}

/* Checks the facts that the part itself reported: SFDP, or the page length of a DataFlash. */
static inline void check_described_chip(const struct flash_chip *chip)
{
	if (chip->identify == &spi25_sfdp) {
		check_sfdp_chip(chip);
	} else if (chip->identify == &dataflash_id) {
		check_pages(chip, DATAFLASH_PAGE_BYTES_MAX);
		check_erases(chip);
	}
}

#endif
