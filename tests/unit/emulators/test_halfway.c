/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/array.h"

#define GRANULE ARRAY_GRANULE_BYTES
#define SIZE_BYTES (4 * GRANULE)
#define BEFORE 0x3C
#define SEED 7

struct fixture {
	struct array array;
	uint8_t bytes[SIZE_BYTES];
	uint8_t map[1];
	uint8_t got[SIZE_BYTES];
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	uint8_t before[SIZE_BYTES];

	memset(before, BEFORE, sizeof(before));
	array_init(&fixture->array, SIZE_BYTES, fixture->bytes, fixture->map);
	array_load(&fixture->array, 0, before, sizeof(before));
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

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

static void erase_cut_off_leaves_erased_then_mixed_then_old(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t *got;

	halfway_erase(&fixture->array, 0, SIZE_BYTES, 2 * GRANULE + 5, SEED);
	got = read_all(fixture);
	assert_int_equal(count(got, 2 * GRANULE, 0xFF), 2 * GRANULE);
	assert_int_equal(count(got + 3 * GRANULE, GRANULE, BEFORE), GRANULE);
	got += (size_t)2 * GRANULE;
	assert_in_range(count(got, GRANULE, 0xFF), GRANULE / 5, GRANULE / 3);
	assert_in_range(count(got, GRANULE, BEFORE), GRANULE / 5, GRANULE / 2);
	assert_in_range(count(got, GRANULE, 0x00), GRANULE / 5, GRANULE / 2);
}

static void erase_of_less_than_a_granule_stays_inside_its_block(void **state)
{
	struct fixture *fixture = *state;
	const uint8_t *got;

	halfway_erase(&fixture->array, 256, 256, 128, SEED);
	got = read_all(fixture);
	assert_int_equal(count(got, 256, BEFORE), 256);
	assert_int_not_equal(count(got + 256, 256, BEFORE), 256);
	assert_int_equal(count(got + 512, SIZE_BYTES - 512, BEFORE), SIZE_BYTES - 512);
}

static void program_cut_off_sets_no_bit_and_stays_inside_its_page(void **state)
{
	struct fixture *fixture = *state;
	uint8_t data[256];
	const uint8_t *got;

	memset(data, 0xC0, sizeof(data));
	halfway_program(&fixture->array, 512, data, sizeof(data), false, SEED);
	got = read_all(fixture);
	assert_int_equal(count(got, 512, BEFORE), 512);
	assert_int_equal(count(got + 768, SIZE_BYTES - 768, BEFORE), SIZE_BYTES - 768);
	for (size_t i = 512; i < 768; i++) {
		assert_int_equal(got[i] & ~BEFORE, 0);
		assert_int_equal(got[i] | (BEFORE & ~0xC0), BEFORE);
	}
	assert_in_range(count(got + 512, 256, BEFORE), 80, 200);
	assert_in_range(count(got + 512, 256, BEFORE & 0xC0), 32, 120);
}

static void replacing_program_cut_off_may_leave_bytes_erased(void **state)
{
	struct fixture *fixture = *state;
	uint8_t data[256];
	const uint8_t *got;

	memset(data, 0xC3, sizeof(data));
	halfway_program(&fixture->array, 0, data, sizeof(data), true, SEED);
	got = read_all(fixture);
	assert_in_range(count(got, 256, BEFORE), 32, 100);
	assert_in_range(count(got, 256, 0xC3), 32, 100);
	assert_in_range(count(got, 256, 0xFF), 32, 100);
}

static void same_seed_leaves_the_same_and_another_seed_does_not(void **state)
{
	struct fixture *fixture = *state;
	uint8_t first[GRANULE];
	uint8_t before[GRANULE];

	memset(before, BEFORE, sizeof(before));
	halfway_erase(&fixture->array, 0, GRANULE, 0, SEED);
	memcpy(first, read_all(fixture), sizeof(first));
	array_load(&fixture->array, 0, before, sizeof(before));
	halfway_erase(&fixture->array, 0, GRANULE, 0, SEED);
	assert_memory_equal(read_all(fixture), first, sizeof(first));
	array_load(&fixture->array, 0, before, sizeof(before));
	halfway_erase(&fixture->array, 0, GRANULE, 0, SEED + 1);
	assert_memory_not_equal(read_all(fixture), first, sizeof(first));
}

#define WITH_ARRAY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ARRAY(erase_cut_off_leaves_erased_then_mixed_then_old),
		WITH_ARRAY(erase_of_less_than_a_granule_stays_inside_its_block),
		WITH_ARRAY(program_cut_off_sets_no_bit_and_stays_inside_its_page),
		WITH_ARRAY(replacing_program_cut_off_may_leave_bytes_erased),
		WITH_ARRAY(same_seed_leaves_the_same_and_another_seed_does_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
