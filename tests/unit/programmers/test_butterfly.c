/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pins_fixture.h"

#include "programmers/front.h"

#define DATA 0
#define STATUS 1
#define CONTROL 2
#define POWER 0x62 /* the driver lights the board with pins that are none of SPI */
#define BUSY 0x80  /* inverted */

static int w25q128jv(void **state)
{
	return put_on_bus(state, "W25Q128JV", RECORDS_MAX);
}

static const struct front_window *port(void)
{
	return &front_find("butterfly")->windows[0];
}

static void store(struct fixture *fixture, uint64_t offset, uint8_t value)
{
	const struct front_access access = {
		.now_ns = fixture->now_ns, .offset = offset, .size_bytes = 1};

	port()->write(&fixture->bus, &access, value);
}

static void set_pins(struct fixture *fixture, const struct spi_levels *levels)
{
	store(fixture, DATA, (uint8_t)(POWER | levels->data << 7 | levels->clock));
	store(fixture, CONTROL, (uint8_t)(0x04 | levels->selected << 3));
}

static bool reply(struct fixture *fixture)
{
	const struct front_access access = {
		.now_ns = fixture->now_ns, .offset = STATUS, .size_bytes = 1, .beneath = 0x58};

	return !(port()->read(&fixture->bus, &access) & BUSY);
}

static const struct pins_of_front pins = {set_pins, reply};

static void id_is_read_bit_by_bit(void **state)
{
	assert_id_is_read(&pins, *state);
}

static void other_lines_of_the_port_are_those_beneath(void **state)
{
	struct fixture *fixture = *state;
	struct front_access access = {.offset = STATUS, .size_bytes = 1, .beneath = 0xD8};

	assert_int_equal(port()->read(&fixture->bus, &access), 0x58);
	access.beneath = 0;
	assert_int_equal(port()->read(&fixture->bus, &access), 0);
	access = (struct front_access){.offset = DATA, .size_bytes = 1, .beneath = 0x5A};
	assert_int_equal(port()->read(&fixture->bus, &access), 0x5A);
}

static void port_without_a_chip_is_the_machines_own(void **state)
{
	const struct front_access access = {.offset = STATUS, .size_bytes = 1, .beneath = 0xDF};

	(void)state;
	port()->write(NULL, &access, 0);
	assert_int_equal(port()->read(NULL, &access), 0xDF);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, w25q128jv, take_off_bus)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(id_is_read_bit_by_bit),
		TEST(other_lines_of_the_port_are_those_beneath),
		TEST(port_without_a_chip_is_the_machines_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
