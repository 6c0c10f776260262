/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../run_cases.h"
#include "model/array.h"

#define GRANULE ARRAY_GRANULE_BYTES
#define SIZE_BYTES (4 * GRANULE)

struct fixture {
	struct array array;
	uint8_t bytes[SIZE_BYTES];
	uint8_t map[1];
	uint8_t got[SIZE_BYTES];
};

/* Fills the memory with stale bytes. No read of an erased granule may return them. */
static void set_up(struct fixture *fixture)
{
	memset(fixture->bytes, 0x5A, sizeof(fixture->bytes));
	array_init(&fixture->array, SIZE_BYTES, fixture->bytes, fixture->map);
}

FIXTURE(fixture, set_up, NOTHING);

static void fill(struct fixture *fixture, uint8_t value)
{
	uint8_t bytes[SIZE_BYTES];

	memset(bytes, value, sizeof(bytes));
	array_load(&fixture->array, 0, bytes, sizeof(bytes));
}

static void assert_all(const struct array *array, uint32_t from, uint32_t to, uint8_t value)
{
	for (uint32_t at = from; at < to; at++) {
		uint8_t byte;

		array_read(array, at, &byte, 1);
		assert_int_equal(byte, value);
	}
}

TEST_ON(fixture, new_array_reads_as_erased_and_touches_no_bytes)
{
	assert_all(&fixture->array, 0, SIZE_BYTES, 0xFF);
	assert_int_equal(fixture->bytes[0], 0x5A);
}

TEST_ON(fixture, program_in_one_granule_leaves_the_others_erased)
{
	uint8_t zero = 0;

	array_program(&fixture->array, GRANULE + 1, &zero, 1);
	assert_true(array_granule_is_erased(&fixture->array, 0));
	assert_false(array_granule_is_erased(&fixture->array, GRANULE));
	assert_true(array_granule_is_erased(&fixture->array, 2 * GRANULE));
	assert_all(&fixture->array, 0, GRANULE + 1, 0xFF);
	assert_all(&fixture->array, GRANULE + 2, SIZE_BYTES, 0xFF);
}

TEST_ON(fixture, program_across_granules_clears_bits_in_both)
{
	uint8_t data[] = {0x0F, 0xF0};
	uint8_t got[2];

	array_program(&fixture->array, GRANULE - 1, data, sizeof(data));
	array_program(&fixture->array, GRANULE - 1, data, sizeof(data));
	array_read(&fixture->array, GRANULE - 1, got, sizeof(got));
	assert_memory_equal(got, data, sizeof(data));
}

TEST_ON(fixture, program_of_any_length_changes_only_its_own_bytes)
{
	uint8_t data[24];
	uint8_t got[sizeof(data) + 2];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(0x81 + i);
	for (size_t len = 0; len <= sizeof(data); len++) {
		set_up(fixture);
		array_program(&fixture->array, 3, data, len);
		array_read(&fixture->array, 2, got, sizeof(got));
		assert_int_equal(got[0], 0xFF);
		assert_memory_equal(got + 1, data, len);
		assert_int_equal(got[1 + len], 0xFF);
	}
}

TEST_ON(fixture, read_past_the_end_continues_at_0)
{
	uint8_t first = 0x12;
	uint8_t got[2];

	array_program(&fixture->array, 0, &first, 1);
	array_read(&fixture->array, SIZE_BYTES - 1, got, sizeof(got));
	assert_int_equal(got[0], 0xFF);
	assert_int_equal(got[1], 0x12);
}

TEST_ON(fixture, erase_of_one_granule_leaves_the_others)
{
	static const uint8_t zeros[SIZE_BYTES];

	array_program(&fixture->array, 0, zeros, sizeof(zeros));
	array_erase(&fixture->array, GRANULE, GRANULE);
	assert_all(&fixture->array, 0, GRANULE, 0x00);
	assert_all(&fixture->array, GRANULE, 2 * GRANULE, 0xFF);
	assert_all(&fixture->array, 2 * GRANULE, SIZE_BYTES, 0x00);
}

TEST_ON(fixture, erase_that_begins_inside_a_granule_erases_only_its_range)
{
	const uint32_t end = 2 * GRANULE + 3;

	fill(fixture, 0x00);
	array_erase(&fixture->array, 100, end - 100);
	assert_all(&fixture->array, 0, 100, 0x00);
	assert_all(&fixture->array, 100, end, 0xFF);
	assert_all(&fixture->array, end, SIZE_BYTES, 0x00);
	assert_true(array_granule_is_erased(&fixture->array, GRANULE));
}

TEST_ON(fixture, program_after_erase_does_not_see_old_bits)
{
	uint8_t zero = 0x00;
	uint8_t value = 0xA5;

	array_program(&fixture->array, 7, &zero, 1);
	array_erase(&fixture->array, 0, GRANULE);
	array_program(&fixture->array, 7, &value, 1);
	assert_all(&fixture->array, 7, 8, 0xA5);
}

TEST_ON(fixture, load_sets_bits_that_program_cannot)
{
	uint8_t zero = 0x00;
	uint8_t ones = 0xFF;

	array_load(&fixture->array, 7, &zero, 1);
	array_load(&fixture->array, 7, &ones, 1);
	assert_all(&fixture->array, 7, 8, 0xFF);
}

TEST_ON(fixture, load_of_erased_bytes_keeps_the_granule_erased)
{
	uint8_t ones[16];

	memset(ones, 0xFF, sizeof(ones));
	array_load(&fixture->array, 100, ones, sizeof(ones));
	assert_true(array_granule_is_erased(&fixture->array, 100));
}

/* The cases below interrupt work in an array that is full of BEFORE. */

#define BEFORE 0x3C
#define SEED 7

static size_t count(const uint8_t *bytes, size_t len, uint8_t value)
{
	size_t found = 0;

	for (size_t i = 0; i < len; i++)
		found += bytes[i] == value;
	return found;
}

static const uint8_t *read_all(struct fixture *fixture)
{
	array_read(&fixture->array, 0, fixture->got, SIZE_BYTES);
	return fixture->got;
}

TEST_ON(fixture, interrupted_erase_leaves_erased_then_mixed_then_old_bytes)
{
	const uint8_t *got;

	fill(fixture, BEFORE);
	halfway_erase(&fixture->array, 0, SIZE_BYTES, 2 * GRANULE + 5, SEED);
	got = read_all(fixture);
	assert_int_equal(count(got, 2 * GRANULE, 0xFF), 2 * GRANULE);
	assert_int_equal(count(got + 3 * GRANULE, GRANULE, BEFORE), GRANULE);
	got += (size_t)2 * GRANULE;
	assert_in_range(count(got, GRANULE, 0xFF), GRANULE / 5, GRANULE / 3);
	assert_in_range(count(got, GRANULE, BEFORE), GRANULE / 5, GRANULE / 2);
	assert_in_range(count(got, GRANULE, 0x00), GRANULE / 5, GRANULE / 2);
}

TEST_ON(fixture, interrupted_erase_of_less_than_a_granule_stays_inside_its_block)
{
	const uint8_t *got;

	fill(fixture, BEFORE);
	halfway_erase(&fixture->array, 256, 256, 128, SEED);
	got = read_all(fixture);
	assert_int_equal(count(got, 256, BEFORE), 256);
	assert_int_not_equal(count(got + 256, 256, BEFORE), 256);
	assert_int_equal(count(got + 512, SIZE_BYTES - 512, BEFORE), SIZE_BYTES - 512);
}

TEST_ON(fixture, interrupted_program_sets_no_bit_and_stays_inside_its_page)
{
	uint8_t data[256];
	const uint8_t *got;

	memset(data, 0xF0, sizeof(data));
	fill(fixture, BEFORE);
	halfway_program(&fixture->array, 512, data, sizeof(data), false, SEED);
	got = read_all(fixture);
	assert_int_equal(count(got, 512, BEFORE), 512);
	assert_int_equal(count(got + 768, SIZE_BYTES - 768, BEFORE), SIZE_BYTES - 768);
	for (size_t i = 512; i < 768; i++) {
		assert_int_equal(got[i] & ~BEFORE, 0);
		assert_int_equal(got[i] & 0xF0, BEFORE & 0xF0);
	}
	assert_in_range(count(got + 512, 256, BEFORE), 80, 200);
	assert_in_range(count(got + 512, 256, BEFORE & 0xF0), 32, 120);
}

TEST_ON(fixture, interrupted_program_that_erases_first_may_leave_bytes_erased)
{
	uint8_t data[256];
	const uint8_t *got;

	memset(data, 0xC3, sizeof(data));
	fill(fixture, BEFORE);
	halfway_program(&fixture->array, 0, data, sizeof(data), true, SEED);
	got = read_all(fixture);
	assert_in_range(count(got, 256, BEFORE), 32, 100);
	assert_in_range(count(got, 256, 0xC3), 32, 100);
	assert_in_range(count(got, 256, 0xFF), 32, 100);
}

static const uint8_t *erased_half_way(struct fixture *fixture, uint64_t seed)
{
	fill(fixture, BEFORE);
	halfway_erase(&fixture->array, 0, GRANULE, 0, seed);
	return read_all(fixture);
}

TEST_ON(fixture, interrupted_erase_leaves_bytes_that_depend_on_the_seed)
{
	uint8_t first[GRANULE];

	memcpy(first, erased_half_way(fixture, SEED), sizeof(first));
	assert_memory_equal(erased_half_way(fixture, SEED), first, sizeof(first));
	assert_memory_not_equal(erased_half_way(fixture, SEED + 1), first, sizeof(first));
}
