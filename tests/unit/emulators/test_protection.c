/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench.h"
#include "model/spi.h"

#define KIB 1024u
#define MIB (1024u * 1024u)

BENCH_SET_UP(w25q128jv, "W25Q128JV")

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

/* The bytes on both sides of both ends. */
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

static void ranges_of_w25q64_are_those_of_its_table(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_row(&w25q64, 8 * MIB, &rows[i]);
}

static void ranges_of_n25q128_take_bits_that_are_apart(void **state)
{
	static const struct row rows[] = {
		{{0x04, 0}, 16 * MIB - 64 * KIB, 16 * MIB},
		{{0x40, 0}, 8 * MIB, 16 * MIB},
		{{0x60, 0}, 0, 8 * MIB},
		{{0x44, 0}, 0, 16 * MIB},
		{{0x5C, 0}, 0, 16 * MIB},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_row(&n25q128, 16 * MIB, &rows[i]);
}

static void block_that_only_touches_the_range_is_protected(void **state)
{
	static const uint8_t status[2] = {0x04, 0};

	(void)state;
	assert_true(protection_covers(&w25q64, 8 * MIB, status, 0, 8 * MIB));
	assert_true(protection_covers(&w25q64, 8 * MIB, status, 8 * MIB - 256 * KIB, 256 * KIB));
	assert_false(protection_covers(&w25q64, 8 * MIB, status, 8 * MIB - 256 * KIB, 128 * KIB));
}

static void any_bit_protects_all_where_ranges_are_not_known(void **state)
{
	static const struct part_protection any = {
		.kind = PROTECTION_ANY,
		.bits = {2, 3, 4, 5},
		.bit_count = 4,
	};

	(void)state;
	for (uint8_t bit = 2; bit <= 5; bit++) {
		uint8_t status[1] = {(uint8_t)(1u << bit)};

		assert_true(protection_covers(&any, 8 * MIB, status, 0, 1));
	}
	assert_false(protection_covers(&any, 8 * MIB, (uint8_t[]){0xC3}, 0, 8 * MIB));
}

static void erase_of_a_protected_block_is_ignored(void **state)
{
	struct bench *bench = *state;
	uint8_t highest = 0x04; /* 256 KiB */
	uint8_t none = 0x00;

	bench_write_register(bench, 0x01, &highest, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x20, 0xFFF000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_PROTECTED);
	assert_int_equal(bench->facts.work, CHIP_WORK_NONE);
	bench_erase_at(bench, 0x20, 0xFBF000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
	bench_finish_work(bench);
	bench_write_register(bench, 0x01, &none, 1);
	bench_finish_work(bench);
	bench_erase_at(bench, 0x20, 0xFFF000);
	assert_int_equal(bench->facts.rule, CHIP_RULE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_of_w25q64_are_those_of_its_table),
		cmocka_unit_test(ranges_of_n25q128_take_bits_that_are_apart),
		cmocka_unit_test(block_that_only_touches_the_range_is_protected),
		cmocka_unit_test(any_bit_protects_all_where_ranges_are_not_known),
		WITH(w25q128jv, erase_of_a_protected_block_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
