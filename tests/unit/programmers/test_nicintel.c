/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus_fixture.h"

#include "programmers/front.h"

static int sst29ee010(void **state)
{
	return put_on_bus(state, "SST29EE010", RECORDS_MAX);
}

static const struct front_window *window(void)
{
	return &front_find("nicintel")->windows[0];
}

static struct front_access at(struct fixture *fixture, uint64_t offset)
{
	return (struct front_access){
		.now_ns = fixture->now_ns++, .offset = offset, .size_bytes = 1};
}

static void store(struct fixture *fixture, uint64_t offset, uint64_t value)
{
	const struct front_access access = at(fixture, offset);

	window()->write(&fixture->bus, &access, value);
}

static uint64_t load(struct fixture *fixture, uint64_t offset)
{
	const struct front_access access = at(fixture, offset);

	return window()->read(&fixture->bus, &access);
}

static void front_is_found_by_name(void **state)
{
	(void)state;
	assert_string_equal(front_find("nicintel")->name, "nicintel");
	assert_null(front_find("nicintel_"));
	assert_null(front_find(""));
}

static void part_says_who_it_is_through_the_window(void **state)
{
	struct fixture *fixture = *state;

	store(fixture, 0x5555, 0xAA);
	store(fixture, 0x2AAA, 0x55);
	store(fixture, 0x5555, 0x90);
	fixture->now_ns += 10000;
	assert_int_equal(load(fixture, 0), 0xBF);
	assert_int_equal(load(fixture, 1), 0x07);
}

static void last_byte_of_the_window_is_the_last_of_the_part(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(window()->size_bytes, fixture->bus.chip.part->size_bytes);
	array_load(&fixture->bus.chip.array, (uint32_t)window()->size_bytes - 1,
		(const uint8_t[]){0x42}, 1);
	assert_int_equal(load(fixture, window()->size_bytes - 1), 0x42);
}

static void accesses_come_byte_by_byte(void **state)
{
	(void)state;
	assert_int_equal(window()->access_bytes_max, 1);
}

static void without_a_chip_the_bus_floats(void **state)
{
	const struct front_access access = {.size_bytes = 1};

	(void)state;
	window()->write(NULL, &access, 0xAA);
	assert_int_equal(window()->read(NULL, &access), 0xFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(front_is_found_by_name),
		cmocka_unit_test_setup_teardown(
			part_says_who_it_is_through_the_window, sst29ee010, take_off_bus),
		cmocka_unit_test_setup_teardown(
			last_byte_of_the_window_is_the_last_of_the_part, sst29ee010, take_off_bus),
		cmocka_unit_test(accesses_come_byte_by_byte),
		cmocka_unit_test(without_a_chip_the_bus_floats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
