/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pins_fixture.h"

#include "programmers/front.h"

#define REQUEST 0x10
#define GRANT 0x20
#define REPLY 0x08
#define FWE 0x30
#define FWE_OFF 0x10
#define FWE_ON 0x20

static int w25q128jv(void **state)
{
	return put_on_bus(state, "W25Q128JV", RECORDS_MAX);
}

static const struct front_window *eecd(void)
{
	return &front_find("nicintel_spi")->windows[0];
}

static const struct front_window *fla(void)
{
	return &front_find("nicintel_spi")->windows[1];
}

static struct front_access whole(const struct fixture *fixture)
{
	return (struct front_access){.now_ns = fixture->now_ns, .size_bytes = 4};
}

static void store_fla(struct fixture *fixture, uint64_t value)
{
	const struct front_access access = whole(fixture);

	fla()->write(&fixture->bus, &access, value);
}

static uint64_t load(struct fixture *fixture, const struct front_window *window)
{
	const struct front_access access = whole(fixture);

	return window->read(&fixture->bus, &access);
}

static void set_pins(struct fixture *fixture, const struct spi_levels *levels)
{
	store_fla(fixture,
		(uint64_t)(REQUEST | levels->data << 2 | !levels->selected << 1 | levels->clock));
}

static bool reply(struct fixture *fixture)
{
	return load(fixture, fla()) & REPLY;
}

static const struct pins_of_front pins = {set_pins, reply};

static void id_is_read_bit_by_bit(void **state)
{
	assert_id_is_read(&pins, *state);
}

static void bus_is_granted_while_it_is_asked_for(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(load(fixture, fla()) & GRANT, 0);
	store_fla(fixture, REQUEST);
	assert_int_equal(load(fixture, fla()) & GRANT, GRANT);
	store_fla(fixture, 0);
	assert_int_equal(load(fixture, fla()) & GRANT, 0);
}

static void pins_reach_no_part_before_the_bus_is_asked_for(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 16; i++)
		store_fla(fixture, (uint64_t)(i & 1));
	store_fla(fixture, 2);
	assert_int_equal(record_count(fixture), 0);
}

static void writes_are_off_until_a_program_allows_them(void **state)
{
	struct fixture *fixture = *state;
	const struct front_access access = whole(fixture);

	assert_int_equal(load(fixture, eecd()) & FWE, FWE_OFF);
	eecd()->write(&fixture->bus, &access, FWE_ON);
	assert_int_equal(load(fixture, eecd()) & FWE, FWE_ON);
}

static void byte_of_a_register_leaves_the_others_alone(void **state)
{
	struct fixture *fixture = *state;
	struct front_access access = {.offset = 1, .size_bytes = 1};

	eecd()->write(&fixture->bus, &access, 0x5A);
	assert_int_equal(load(fixture, eecd()), 0x5A00 | FWE_OFF);
	assert_int_equal(eecd()->read(&fixture->bus, &access), 0x5A);
}

static void card_without_a_chip_has_registers_that_hold_nothing(void **state)
{
	const struct front_access access = {.size_bytes = 4};

	(void)state;
	fla()->write(NULL, &access, REQUEST);
	eecd()->write(NULL, &access, FWE_ON);
	assert_int_equal(fla()->read(NULL, &access), REPLY);
	assert_int_equal(eecd()->read(NULL, &access), FWE_OFF);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, w25q128jv, take_off_bus)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(id_is_read_bit_by_bit),
		TEST(bus_is_granted_while_it_is_asked_for),
		TEST(pins_reach_no_part_before_the_bus_is_asked_for),
		TEST(writes_are_off_until_a_program_allows_them),
		TEST(byte_of_a_register_leaves_the_others_alone),
		TEST(card_without_a_chip_has_registers_that_hold_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
