/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus_fixture.h"

#include "programmers/front.h"

#define BRIDGE 0x80000800U
#define CARD 0x80008000U
#define ROM_CONTROL (BRIDGE | 0x40)
#define WINDOW_BYTES (UINT64_C(8) << 20)
#define PART_AT (WINDOW_BYTES - (UINT64_C(512) << 10)) /* in the window */
#define REGISTERS_AT (PART_AT - (UINT64_C(4) << 20))

static int sst49lf040(void **state)
{
	return put_on_bus(state, "SST49LF040", RECORDS_MAX);
}

static int m50fw040(void **state)
{
	return put_on_bus(state, "M50FW040", RECORDS_MAX);
}

static const struct front_window *config(void)
{
	return &front_find("amd8111")->windows[0];
}

static const struct front_window *part(void)
{
	return &front_find("amd8111")->windows[1];
}

static void write_control(struct fixture *fixture, uint64_t index, uint8_t value)
{
	const struct front_access access = {.index = index, .size_bytes = 1};

	config()->write(&fixture->bus, &access, value);
}

static struct front_access at(struct fixture *fixture, uint64_t offset)
{
	return (struct front_access){
		.now_ns = fixture->now_ns++, .offset = offset, .size_bytes = 1};
}

static void store(struct fixture *fixture, uint64_t offset, uint8_t value)
{
	const struct front_access access = at(fixture, offset);

	part()->write(&fixture->bus, &access, value);
}

static uint64_t load(struct fixture *fixture, uint64_t offset)
{
	const struct front_access access = at(fixture, offset);

	return part()->read(&fixture->bus, &access);
}

static void bridge_says_that_it_is_an_amd_8111(void **state)
{
	struct front_access access = {.index = BRIDGE, .size_bytes = 4, .beneath = 0x70008086};

	(void)state;
	assert_int_equal(config()->read(NULL, &access), 0x74681022);
	access.size_bytes = 2;
	assert_int_equal(config()->read(NULL, &access), 0x1022);
	access.offset = 2;
	assert_int_equal(config()->read(NULL, &access), 0x7468);
}

static void everything_else_is_what_the_machine_says(void **state)
{
	struct front_access access = {.index = CARD, .size_bytes = 4, .beneath = 0x12298086};

	(void)state;
	assert_int_equal(config()->read(NULL, &access), 0x12298086);
	access.index = ROM_CONTROL;
	assert_int_equal(config()->read(NULL, &access), 0x12298086);
	access.index = BRIDGE & 0x7FFFFFFF; /* not enabled */
	assert_int_equal(config()->read(NULL, &access), 0x12298086);
}

static void part_is_there_while_the_bridge_passes_writes(void **state)
{
	struct fixture *fixture = *state;

	assert_false(part()->is_shown(NULL));
	assert_false(part()->is_shown(&fixture->bus));
	write_control(fixture, ROM_CONTROL, 0x01);
	assert_true(part()->is_shown(&fixture->bus));
	write_control(fixture, ROM_CONTROL, 0x00);
	assert_false(part()->is_shown(&fixture->bus));
}

static void other_registers_do_not_bring_the_part(void **state)
{
	struct fixture *fixture = *state;

	write_control(fixture, BRIDGE | 0x44, 0x01);
	write_control(fixture, CARD | 0x40, 0x01);
	assert_false(part()->is_shown(&fixture->bus));
}

static void part_says_who_it_is_at_the_top_of_the_window(void **state)
{
	struct fixture *fixture = *state;

	store(fixture, PART_AT + 0x5555, 0xAA);
	store(fixture, PART_AT + 0x2AAA, 0x55);
	store(fixture, PART_AT + 0x5555, 0x90);
	fixture->now_ns += 10000;
	assert_int_equal(load(fixture, PART_AT), 0xBF);
	assert_int_equal(load(fixture, PART_AT + 1), 0x51);
}

static void last_byte_below_4_gib_is_the_last_of_the_part(void **state)
{
	struct fixture *fixture = *state;

	array_load(&fixture->bus.chip.array, fixture->bus.chip.part->size_bytes - 1,
		(const uint8_t[]){0x42}, 1);
	assert_int_equal(load(fixture, WINDOW_BYTES - 1), 0x42);
}

static void locks_of_an_fwh_are_4_mib_below_it(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, REGISTERS_AT + 2), 0x01);
	store(fixture, REGISTERS_AT + 2, 0x00);
	assert_int_equal(load(fixture, REGISTERS_AT + 2), 0x00);
}

static void accesses_come_byte_by_byte(void **state)
{
	(void)state;
	assert_int_equal(part()->access_bytes_max, 1);
}

static void without_a_chip_nobody_answers(void **state)
{
	const struct front_access access = {.size_bytes = 1, .index = ROM_CONTROL};

	(void)state;
	config()->write(NULL, &access, 1);
	part()->write(NULL, &access, 0xAA);
	assert_int_equal(part()->read(NULL, &access), 0xFF);
}

#define ON_SST49LF040(test_) cmocka_unit_test_setup_teardown(test_, sst49lf040, take_off_bus)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bridge_says_that_it_is_an_amd_8111),
		cmocka_unit_test(everything_else_is_what_the_machine_says),
		ON_SST49LF040(part_is_there_while_the_bridge_passes_writes),
		ON_SST49LF040(other_registers_do_not_bring_the_part),
		ON_SST49LF040(part_says_who_it_is_at_the_top_of_the_window),
		ON_SST49LF040(last_byte_below_4_gib_is_the_last_of_the_part),
		cmocka_unit_test_setup_teardown(
			locks_of_an_fwh_are_4_mib_below_it, m50fw040, take_off_bus),
		cmocka_unit_test(accesses_come_byte_by_byte),
		cmocka_unit_test(without_a_chip_nobody_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
