/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests names, erase blocks, protected ranges and SFDP (5Ah) of parts. */
#include "../run_cases.h"
#include "model/part.h"
#include "model/spi.h"
#include "model/spi_command.h"

#define KIB 1024u
#define MIB (1024u * 1024u)

TEST(name_is_found_in_any_case_and_a_misspelt_one_has_a_nearest)
{
	assert_string_equal(part_find("w25q64fv")->name, "W25Q64FV");
	assert_null(part_find("W25Q64F"));
	assert_string_equal(part_nearest("W25Q64F")->name, "W25Q64FV");
	assert_string_equal(part_nearest("M25P8O")->name, "M25P80");
}

TEST(erase_times_of_every_part_rise_from_min_to_max)
{
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

TEST(block_is_the_one_that_holds_the_address)
{
	assert_block(&uniform, 65535, 0, 65536);
	assert_block(&uniform, 65536, 65536, 65536);
	assert_block(&uneven, 8191, 0, 8192);
	assert_block(&uneven, 8192, 8192, 8192);
	assert_block(&uneven, 16384, 16384, 32768);
	assert_block(&uneven, 49151, 16384, 32768);
}

TEST(address_behind_the_last_region_is_in_no_block)
{
	struct part_block block;

	assert_false(part_erase_block(&uneven, 49152, &block));
}

/* Protected ranges. */

/* W25Q64: BP2 to BP0, TB, SEC, and CMP in the second register. */
static const struct part_protection w25q64 = {
	.kind = PROTECTION_RANGES,
	.bits = {2, 3, 4},
	.bit_count = 3,
	.unit_bytes = 128 * KIB,
	.bottom = {0, 0x20},
	.sectors = {0, 0x40},
	.complement = {1, 0x40},
};

/* N25Q128: BP3 is bit 6, TB bit 5. */
static const struct part_protection n25q128 = {
	.kind = PROTECTION_RANGES,
	.bits = {2, 3, 4, 6},
	.bit_count = 4,
	.unit_bytes = 64 * KIB,
	.bottom = {0, 0x20},
};

struct row {
	uint8_t status[2];
	uint32_t begin; /* the protected range */
	uint32_t end;
};

/* Checks the bytes on both sides of both ends of the protected range. */
static void assert_row(
	const struct part_protection *protection, uint32_t size_bytes, const struct row *row)
{
	bool none = row->begin == row->end;

	assert_int_equal(
		protection_covers(protection, size_bytes, row->status, 0, size_bytes), !none);
	if (none)
		return;
	assert_true(protection_covers(protection, size_bytes, row->status, row->begin, 1));
	assert_true(protection_covers(protection, size_bytes, row->status, row->end - 1, 1));
	if (row->begin > 0)
		assert_false(
			protection_covers(protection, size_bytes, row->status, row->begin - 1, 1));
	if (row->end < size_bytes)
		assert_false(protection_covers(protection, size_bytes, row->status, row->end, 1));
}

TEST(protected_ranges_of_w25q64_are_those_of_its_datasheet)
{
	static const struct row rows[] = {
		{{0x00, 0}, 0, 0},
		{{0x04, 0}, 8 * MIB - 128 * KIB, 8 * MIB},
		{{0x14, 0}, 6 * MIB, 8 * MIB},
		{{0x18, 0}, 4 * MIB, 8 * MIB},
		{{0x1C, 0}, 0, 8 * MIB},
		{{0x24, 0}, 0, 128 * KIB},
		{{0x38, 0}, 0, 4 * MIB},
		{{0x44, 0}, 8 * MIB - 4 * KIB, 8 * MIB},
		{{0x54, 0}, 8 * MIB - 32 * KIB, 8 * MIB},
		{{0x68, 0}, 0, 8 * KIB},
		{{0x5C, 0}, 0, 8 * MIB},
		{{0x00, 0x40}, 0, 8 * MIB},
		{{0x04, 0x40}, 0, 8 * MIB - 128 * KIB},
		{{0x24, 0x40}, 128 * KIB, 8 * MIB},
		{{0x1C, 0x40}, 0, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(&w25q64, 8 * MIB, &rows[i]);
}

TEST(protected_ranges_of_n25q128_use_bits_that_are_not_adjacent)
{
	static const struct row rows[] = {
		{{0x04, 0}, 16 * MIB - 64 * KIB, 16 * MIB},
		{{0x40, 0}, 8 * MIB, 16 * MIB},
		{{0x60, 0}, 0, 8 * MIB},
		{{0x44, 0}, 0, 16 * MIB},
		{{0x5C, 0}, 0, 16 * MIB},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row(&n25q128, 16 * MIB, &rows[i]);
}

TEST(block_that_overlaps_the_range_is_protected)
{
	static const uint8_t status[2] = {0x04, 0};

	assert_true(protection_covers(&w25q64, 8 * MIB, status, 0, 8 * MIB));
	assert_true(protection_covers(&w25q64, 8 * MIB, status, 8 * MIB - 256 * KIB, 256 * KIB));
	assert_false(protection_covers(&w25q64, 8 * MIB, status, 8 * MIB - 256 * KIB, 128 * KIB));
}

TEST(any_bit_protects_all_if_ranges_are_not_known)
{
	static const struct part_protection any = {
		.kind = PROTECTION_ANY,
		.bits = {2, 3, 4, 5},
		.bit_count = 4,
	};

	for (uint8_t bit = 2; bit <= 5; bit++) {
		uint8_t status[1] = {(uint8_t)(1u << bit)};

		assert_true(protection_covers(&any, 8 * MIB, status, 0, 1));
	}
	assert_false(protection_covers(&any, 8 * MIB, (uint8_t[]){0xC3}, 0, 8 * MIB));
}

/* The description that 5Ah reads (SFDP). */

static uint32_t word_of(const struct part *part, uint32_t address)
{
	uint8_t bytes[4];

	sfdp_read(part, address, bytes, sizeof(bytes));
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

TEST(sfdp_of_w25q64fv_has_one_table_of_nine_words)
{
	static const struct {
		uint32_t address, word;
	} rows[] = {
		{0x00, 0x50444653}, /* SFDP */
		{0x04, 0xFF000100}, /* 1.0, one table */
		{0x08, 0x09010000}, /* the basic one, 1.0, nine words */
		{0x0C, 0xFF000010}, /* at 10h */
		{0x10, 0xFF8020E5}, /* 4 KiB by 20h, 3 address bytes */
		{0x14, (8u << 23) - 1},
		{0x2C, 0x520F200C}, /* 4 and 32 KiB */
		{0x30, 0x0000D810}, /* 64 KiB */
		{0x34, 0xFFFFFFFF}, /* behind the table */
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(word_of(part_find("W25Q64FV"), rows[i].address), rows[i].word);
}

TEST(sfdp_lists_no_erase_with_four_address_bytes)
{
	struct part part = *part_find("W25Q256JV");
	struct part_erase *first = &part.erases[0];

	assert_int_equal(first->opcode, 0x20);
	first->opcode = 0x21;
	assert_int_equal(word_of(&part, 0x10) & 0xFFFF, 0xFFE7); /* no 4 KiB erase */
}

TEST(sfdp_of_a_part_above_16_mib_offers_four_address_bytes)
{
	assert_int_equal(word_of(part_find("W25Q256JV"), 0x10) >> 17 & 3, 1);
	assert_int_equal(word_of(part_find("W25Q256JV"), 0x14), (32u << 23) - 1);
}

TEST(sfdp_gives_size_and_erases_of_every_part_that_has_it)
{
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
