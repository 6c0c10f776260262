/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/array.h"

#define SIZE_BYTES (4 * ARRAY_GRANULE_BYTES)

struct fixture {
	struct array array;
	uint8_t bytes[SIZE_BYTES];
	uint8_t map[1];
};

/* Fills the array with stale bytes: a read of them where the map says "erased" is noticed. */
static struct fixture *fixture_init(struct fixture *fixture)
{
	memset(fixture->bytes, 0x5A, sizeof(fixture->bytes));
	array_init(&fixture->array, SIZE_BYTES, fixture->bytes, fixture->map);
	return fixture;
}

static void assert_all(const struct array *array, uint32_t from, uint32_t to, uint8_t value)
{
	for (uint32_t at = from; at < to; at++) {
		uint8_t byte;

		array_read(array, at, &byte, 1);
		assert_int_equal(byte, value);
	}
}

static void new_array_reads_erased_and_touches_no_bytes(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	assert_all(&fixture.array, 0, SIZE_BYTES, 0xFF);
	assert_int_equal(fixture.bytes[0], 0x5A);
}

static void program_in_one_granule_leaves_the_others_erased(void **state)
{
	struct fixture fixture;
	uint8_t zero = 0;

	(void)state;
	fixture_init(&fixture);
	array_program(&fixture.array, ARRAY_GRANULE_BYTES + 1, &zero, 1);
	assert_true(array_granule_is_erased(&fixture.array, 0));
	assert_false(array_granule_is_erased(&fixture.array, ARRAY_GRANULE_BYTES));
	assert_true(array_granule_is_erased(&fixture.array, 2 * ARRAY_GRANULE_BYTES));
	assert_all(&fixture.array, 0, ARRAY_GRANULE_BYTES + 1, 0xFF);
	assert_all(&fixture.array, ARRAY_GRANULE_BYTES + 2, SIZE_BYTES, 0xFF);
}

static void program_across_granules_clears_bits_in_both(void **state)
{
	struct fixture fixture;
	uint8_t data[] = {0x0F, 0xF0};
	uint8_t got[2];

	(void)state;
	fixture_init(&fixture);
	array_program(&fixture.array, ARRAY_GRANULE_BYTES - 1, data, sizeof(data));
	array_program(&fixture.array, ARRAY_GRANULE_BYTES - 1, data, sizeof(data));
	array_read(&fixture.array, ARRAY_GRANULE_BYTES - 1, got, sizeof(got));
	assert_memory_equal(got, data, sizeof(data));
}

static void program_of_any_length_clears_its_own_bytes_alone(void **state)
{
	struct fixture fixture;
	uint8_t data[24];
	uint8_t got[sizeof(data) + 2];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(0x81 + i);
	for (size_t len = 0; len <= sizeof(data); len++) {
		fixture_init(&fixture);
		array_program(&fixture.array, 3, data, len);
		array_read(&fixture.array, 2, got, sizeof(got));
		assert_int_equal(got[0], 0xFF);
		assert_memory_equal(got + 1, data, len);
		assert_int_equal(got[1 + len], 0xFF);
	}
}

static void read_past_the_end_goes_on_from_zero(void **state)
{
	struct fixture fixture;
	uint8_t first = 0x12;
	uint8_t got[2];

	(void)state;
	fixture_init(&fixture);
	array_program(&fixture.array, 0, &first, 1);
	array_read(&fixture.array, SIZE_BYTES - 1, got, sizeof(got));
	assert_int_equal(got[0], 0xFF);
	assert_int_equal(got[1], 0x12);
}

static void erase_of_one_granule_forgets_only_that(void **state)
{
	struct fixture fixture;
	uint8_t zeros[SIZE_BYTES] = {0};

	(void)state;
	fixture_init(&fixture);
	array_program(&fixture.array, 0, zeros, sizeof(zeros));
	array_erase(&fixture.array, ARRAY_GRANULE_BYTES, ARRAY_GRANULE_BYTES);
	assert_all(&fixture.array, 0, ARRAY_GRANULE_BYTES, 0x00);
	assert_all(&fixture.array, ARRAY_GRANULE_BYTES, 2 * ARRAY_GRANULE_BYTES, 0xFF);
	assert_all(&fixture.array, 2 * ARRAY_GRANULE_BYTES, SIZE_BYTES, 0x00);
}

static void erase_inside_granules_takes_its_range_and_no_more(void **state)
{
	struct fixture fixture;
	uint8_t zeros[SIZE_BYTES] = {0};
	uint32_t end = 2 * ARRAY_GRANULE_BYTES + 3;

	(void)state;
	fixture_init(&fixture);
	array_program(&fixture.array, 0, zeros, sizeof(zeros));
	array_erase(&fixture.array, 100, end - 100);
	assert_all(&fixture.array, 0, 100, 0x00);
	assert_all(&fixture.array, 100, end, 0xFF);
	assert_all(&fixture.array, end, SIZE_BYTES, 0x00);
	assert_true(array_granule_is_erased(&fixture.array, ARRAY_GRANULE_BYTES));
}

static void program_after_erase_does_not_meet_old_bits(void **state)
{
	struct fixture fixture;
	uint8_t zero = 0x00;
	uint8_t ones = 0xA5;

	(void)state;
	fixture_init(&fixture);
	array_program(&fixture.array, 7, &zero, 1);
	array_erase(&fixture.array, 0, ARRAY_GRANULE_BYTES);
	array_program(&fixture.array, 7, &ones, 1);
	assert_all(&fixture.array, 7, 8, 0xA5);
}

static void load_sets_bits_that_program_cannot(void **state)
{
	struct fixture fixture;
	uint8_t zero = 0x00;
	uint8_t ones = 0xFF;

	(void)state;
	fixture_init(&fixture);
	array_load(&fixture.array, 7, &zero, 1);
	array_load(&fixture.array, 7, &ones, 1);
	assert_all(&fixture.array, 7, 8, 0xFF);
}

static void load_of_erased_bytes_keeps_the_granule_erased(void **state)
{
	struct fixture fixture;
	uint8_t ones[16];

	(void)state;
	fixture_init(&fixture);
	memset(ones, 0xFF, sizeof(ones));
	array_load(&fixture.array, 100, ones, sizeof(ones));
	assert_true(array_granule_is_erased(&fixture.array, 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_array_reads_erased_and_touches_no_bytes),
		cmocka_unit_test(program_in_one_granule_leaves_the_others_erased),
		cmocka_unit_test(program_across_granules_clears_bits_in_both),
		cmocka_unit_test(program_of_any_length_clears_its_own_bytes_alone),
		cmocka_unit_test(read_past_the_end_goes_on_from_zero),
		cmocka_unit_test(erase_of_one_granule_forgets_only_that),
		cmocka_unit_test(erase_inside_granules_takes_its_range_and_no_more),
		cmocka_unit_test(program_after_erase_does_not_meet_old_bits),
		cmocka_unit_test(load_sets_bits_that_program_cannot),
		cmocka_unit_test(load_of_erased_bytes_keeps_the_granule_erased),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
