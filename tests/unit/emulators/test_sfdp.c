/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/spi_nor.h"
#include "model/spi.h"

static uint32_t word_of(const struct part *part, uint32_t address)
{
	uint8_t bytes[4];

	sfdp_read(part, address, bytes, sizeof(bytes));
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static void header_leads_to_a_table_of_nine_words(void **state)
{
	const struct part *part = part_find("W25Q64FV");

	(void)state;
	assert_int_equal(word_of(part, 0), 0x50444653);  /* SFDP */
	assert_int_equal(word_of(part, 4), 0xFF000100);  /* 1.0, one table */
	assert_int_equal(word_of(part, 8), 0x09010000);  /* the basic one, 1.0, nine words */
	assert_int_equal(word_of(part, 12), 0xFF000010); /* at 10h */
}

static void table_of_w25q64fv_says_what_the_part_is(void **state)
{
	const struct part *part = part_find("W25Q64FV");

	(void)state;
	assert_int_equal(word_of(part, 0x10), 0xFF8020E5); /* 4 KiB erases by 20h, three bytes */
	assert_int_equal(word_of(part, 0x14), (8u << 23) - 1);
	assert_int_equal(word_of(part, 0x2C), 0x520F200C); /* 4 and 32 KiB */
	assert_int_equal(word_of(part, 0x30), 0x0000D810); /* 64 KiB */
}

static void bytes_behind_the_table_are_not_programmed(void **state)
{
	(void)state;
	assert_int_equal(word_of(part_find("W25Q64FV"), 0x34), 0xFFFFFFFF);
}

static void part_above_16_mib_says_that_it_takes_four_bytes(void **state)
{
	(void)state;
	assert_int_equal(word_of(part_find("W25Q256JV"), 0x10) >> 17 & 3, 1);
	assert_int_equal(word_of(part_find("W25Q256JV"), 0x14), (32u << 23) - 1);
}

static void table_agrees_with_every_part_that_has_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < part_table_count; i++) {
		const struct part *part = &part_table[i];

		if (!part->spi || !(part->spi->features & SPI_HAS_SFDP))
			continue;
		assert_int_equal(word_of(part, 0x14), part->size_bytes * 8u - 1);
		for (uint32_t type = 0; type < 4; type++) {
			uint32_t pair = word_of(part, 0x2C + 2 * type) & 0xFFFF;
			const struct part_erase *erase = part_erase_find(part, pair >> 8 & 0xFF);

			if (pair == 0)
				continue;
			assert_non_null(erase);
			assert_int_equal(erase->size_bytes, 1u << (pair & 0xFF));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_leads_to_a_table_of_nine_words),
		cmocka_unit_test(table_of_w25q64fv_says_what_the_part_is),
		cmocka_unit_test(bytes_behind_the_table_are_not_programmed),
		cmocka_unit_test(part_above_16_mib_says_that_it_takes_four_bytes),
		cmocka_unit_test(table_agrees_with_every_part_that_has_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
