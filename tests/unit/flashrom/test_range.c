/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmocka_headers.h"
#include "range.h"

static void assert_range(struct range range, uint32_t start, uint32_t end)
{
	assert_int_equal(range.start, start);
	assert_int_equal(range.end, end);
}

static void ranges_that_meet_become_one(void **state)
{
	struct range ranges[] = {{0x20000, 0x30000}, {0x10000, 0x20000}, {0, 0x1000}};

	(void)state;
	assert_int_equal(ranges_join(ranges, 3), 2);
	assert_range(ranges[0], 0, 0x1000);
	assert_range(ranges[1], 0x10000, 0x30000);
}

static void ranges_with_room_between_stay_apart(void **state)
{
	struct range ranges[] = {{0x8000, 0x9000}, {0x1000, 0x2000}};

	(void)state;
	assert_int_equal(ranges_join(ranges, 2), 2);
	assert_range(ranges[0], 0x1000, 0x2000);
	assert_range(ranges[1], 0x8000, 0x9000);
}

static void range_inside_another_disappears(void **state)
{
	struct range ranges[] = {{0x1000, 0x2000}, {0x0, 0x10000}};

	(void)state;
	assert_int_equal(ranges_join(ranges, 2), 1);
	assert_range(ranges[0], 0, 0x10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_that_meet_become_one),
		cmocka_unit_test(ranges_with_room_between_stay_apart),
		cmocka_unit_test(range_inside_another_disappears),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
