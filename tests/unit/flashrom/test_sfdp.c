/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parser of SFDP tables; tests/fuzz/fuzz_sfdp.c feeds it any bytes. */
#include <errno.h>
#include <stdlib.h>

#include "../cases.h"
#include "sfdp.h"
#include "sfdp_example.h"
#include "spi25.h"

#define DWORD_BYTES 4
#define TABLE_BYTES (SFDP_EXAMPLE_DWORDS * DWORD_BYTES)

/* A basic table, at first that of the example, and the chip that the parser reads from it. */
struct part {
	uint8_t table[TABLE_BYTES];
	struct flash_chip chip;
};

static void part_start(struct part *part)
{
	memcpy(part->table, sfdp_example + SFDP_EXAMPLE_TABLE, TABLE_BYTES);
}

FIXTURE(part, part_start, NOTHING);

/* Copies the table to a heap block of that size, so that ASan sees a read beyond it. */
static int parse(struct part *part, size_t bytes)
{
	uint8_t *copy = malloc(bytes);
	const char *why;
	int error;

	memcpy(copy, part->table, bytes);
	memset(&part->chip, 0, sizeof(part->chip));
	error = sfdp_parse_table(copy, bytes, &part->chip, &why);
	free(copy);
	return error;
}

static void set_dword(struct part *part, unsigned int number, uint32_t value)
{
	const uint8_t bytes[] = {SFDP_DWORD(value)};

	memcpy(part->table + (number - 1) * DWORD_BYTES, bytes, DWORD_BYTES);
}

static void assert_erase(const struct flash_chip *chip, size_t at, struct chip_erase expected)
{
	assert_int_equal(chip->erase[at].opcode, expected.opcode);
	assert_int_equal(chip->erase[at].block_bytes, expected.block_bytes);
	assert_int_equal(chip->erase[at].busy.typ_us, expected.busy.typ_us);
	assert_int_equal(chip->erase[at].busy.max_us, expected.busy.max_us);
}

static void example_is_read_as_the_standard_says(struct part *part)
{
	assert_int_equal(parse(part, TABLE_BYTES), 0);
	assert_int_equal(part->chip.size_bytes, 16777216);
	assert_int_equal(part->chip.page_bytes, 256);
	assert_int_equal(part->chip.program.typ_us, 640);
	assert_int_equal(part->chip.program.max_us, 2560);
	assert_int_equal(chip_erase_count(&part->chip), 4);
	assert_erase(&part->chip, 0, (struct chip_erase){0x20, 4096, {48000, 288000}, NULL});
	assert_erase(&part->chip, 1, (struct chip_erase){0x52, 32768, {128000, 768000}, NULL});
	assert_erase(&part->chip, 2, (struct chip_erase){0xd8, 65536, {160000, 960000}, NULL});
	assert_erase(
		&part->chip, 3, (struct chip_erase){0xc7, 16777216, {40000000, 240000000}, NULL});
	assert_int_equal(part->chip.spi25.addresses, SPI25_ADDRESS_3);
	assert_true(part->chip.spi25.status_two_bytes);
}

/* A type with exponent 0 does not exist; 2^0 bytes is no smaller than this page. */
static void absent_erase_type_is_ignored_with_pages_of_one_byte(struct part *part)
{
	set_dword(part, 11, 1);
	assert_int_equal(parse(part, TABLE_BYTES), 0);
	assert_int_equal(part->chip.page_bytes, 1);
	assert_int_equal(chip_erase_count(&part->chip), 4);
	assert_int_equal(part->chip.erase[0].block_bytes, 4096);
}

static void first_revision_without_times_gets_long_times(struct part *part)
{
	assert_int_equal(parse(part, 9 * DWORD_BYTES), 0);
	assert_int_equal(part->chip.page_bytes, 256);
	assert_int_equal(chip_erase_count(&part->chip), 4);
	for (size_t i = 0; i < 4; i++)
		assert_true(part->chip.erase[i].busy.typ_us >= 100000);
}

static void table_shorter_than_the_first_revision_is_refused(struct part *part)
{
	for (size_t bytes = 0; bytes < 9 * DWORD_BYTES; bytes++)
		assert_int_equal(parse(part, bytes), -EINVAL);
	for (size_t bytes = 9 * DWORD_BYTES; bytes <= TABLE_BYTES; bytes++)
		assert_int_equal(parse(part, bytes), 0);
}

static void sizes_are_read_in_both_forms_and_bounded(struct part *part)
{
	static const struct {
		uint32_t density;
		int error;
		uint32_t size_bytes;
	} sizes[] = {
		{0x00007fff, 0, 4096},
		{0x07ffffff, 0, 16777216},
		{0x1fffffff, 0, 67108864},
		{0x8000001b, 0, 16777216},
		{0x8000001d, 0, 67108864},
		{0x8000001e, -ENOTSUP, 0},
		{0x3fffffff, -ENOTSUP, 0},
		{0x80000022, -ENOTSUP, 0},
		{0x80000023, -EINVAL, 0},
		{0x80000000, -EINVAL, 0},
		{0x00000000, -EINVAL, 0},
		{0x07fffffe, -EINVAL, 0},
		{0xffffffff, -EINVAL, 0},
		{0x00003fff, -EINVAL, 0},
	};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		part_start(part);
		set_dword(part, 1, 0xfff320e5);
		set_dword(part, 2, sizes[i].density);
		set_dword(part, 16, UINT32_C(0x01000000));
		assert_int_equal(parse(part, TABLE_BYTES), sizes[i].error);
		if (sizes[i].error == 0)
			assert_int_equal(part->chip.size_bytes, sizes[i].size_bytes);
	}
}

/* Bits 18 and 17 of the first double word, and bits 31 to 24 of the sixteenth, decide. */
static void four_byte_addressing_is_read_where_supported(struct part *part)
{
	static const struct {
		uint32_t address_bytes;
		uint32_t ways;
		size_t bytes;
		int error;
		enum spi25_addresses addresses;
	} cases[] = {
		{1, 0x01, TABLE_BYTES, 0, SPI25_ADDRESS_4_MODE},
		{1, 0x02, TABLE_BYTES, 0, SPI25_ADDRESS_4_MODE},
		{1, 0x40, TABLE_BYTES, 0, SPI25_ADDRESS_4_ALWAYS},
		{2, 0x00, TABLE_BYTES, 0, SPI25_ADDRESS_4_ALWAYS},
		{1, 0x00, 9 * DWORD_BYTES, 0, SPI25_ADDRESS_4_MODE},
		{1, 0x0c, TABLE_BYTES, -ENOTSUP, 0},
		{0, 0x01, TABLE_BYTES, -ENOTSUP, 0},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		part_start(part);
		set_dword(part, 1, 0xfff120e5 | cases[i].address_bytes << 17);
		set_dword(part, 2, 0x0fffffff);
		set_dword(part, 16, cases[i].ways << 24);
		assert_int_equal(parse(part, cases[i].bytes), cases[i].error);
		if (cases[i].error == 0)
			assert_int_equal(part->chip.spi25.addresses, cases[i].addresses);
	}
}

static void unusable_erase_types_are_ignored(struct part *part)
{
	set_dword(part, 8, 0x210c200c); /* two erases of 4 KiB: the first one counts */
	set_dword(part, 9, 0xd818ff03); /* one erase of 8 bytes, and one of the chip's size */
	assert_int_equal(parse(part, TABLE_BYTES), 0);
	assert_int_equal(chip_erase_count(&part->chip), 2);
	assert_int_equal(part->chip.erase[0].opcode, 0x20);
	assert_int_equal(part->chip.erase[1].opcode, 0xc7);
}

static void invalid_headers_are_refused(void)
{
	uint8_t header[SFDP_HEADER_BYTES];
	struct sfdp_table table;

	assert_int_equal(sfdp_header_count(sfdp_example), 2);
	for (size_t at = 0; at < 6; at++) {
		memcpy(header, sfdp_example, sizeof(header));
		header[at] ^= 0x01;
		if (at != 4) /* any minor revision is allowed */
			assert_int_equal(sfdp_header_count(header), 0);
	}
	assert_int_equal(sfdp_parse_header(sfdp_example + 8, &table), 0);
	assert_int_equal(table.address, SFDP_EXAMPLE_TABLE);
	assert_int_equal(table.bytes, TABLE_BYTES);
	assert_int_equal(sfdp_parse_header(sfdp_example + 16, &table), -ENOENT);
	memcpy(header, sfdp_example + 8, sizeof(header));
	header[3] = 0xff;
	assert_int_equal(sfdp_parse_header(header, &table), 0);
	assert_int_equal(table.bytes, SFDP_TABLE_BYTES_MAX);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(part, example_is_read_as_the_standard_says),
	CASE_ON(part, absent_erase_type_is_ignored_with_pages_of_one_byte),
	CASE_ON(part, first_revision_without_times_gets_long_times),
	CASE_ON(part, table_shorter_than_the_first_revision_is_refused),
	CASE_ON(part, sizes_are_read_in_both_forms_and_bounded),
	CASE_ON(part, four_byte_addressing_is_read_where_supported),
	CASE_ON(part, unusable_erase_types_are_ignored),
	CASE(invalid_headers_are_refused),
};

RUN_CASES(tests)
