/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pins_fixture.h"

#include <string.h>

#define PAGE_PROGRAM 0x02
#define WRITE_ENABLE 0x06
#define READ_STATUS 0x05
#define BUSY 0x01

static struct spi_pins pins;

static int w25q128jv(void **state)
{
	memset(&pins, 0, sizeof(pins));
	return put_on_bus(state, "W25Q128JV", RECORDS_MAX);
}

static int sst39sf040(void **state)
{
	memset(&pins, 0, sizeof(pins));
	return put_on_bus(state, "SST39SF040", RECORDS_MAX);
}

static void set(struct fixture *fixture, const struct spi_levels *levels)
{
	spi_pins_set(&pins, &fixture->bus, fixture->now_ns, levels);
}

static bool reply(struct fixture *fixture)
{
	(void)fixture;
	return spi_pins_reply(&pins);
}

static const struct pins_of_front plain = {set, reply};

static void send(struct fixture *fixture, const char *bytes, size_t len)
{
	uint8_t copy[16];

	memcpy(copy, bytes, len);
	pass_bytes(&plain, fixture, copy, len);
}

static void id_is_read_bit_by_bit(void **state)
{
	assert_id_is_read(&plain, *state);
}

static void clock_that_idles_high_is_understood(void **state)
{
	struct fixture *fixture = *state;
	uint8_t id = 0;

	set(fixture, &(struct spi_levels){.clock = true});
	set(fixture, &(struct spi_levels){.selected = true, .clock = true});
	pass_byte(&plain, fixture, 0x9F);
	id = pass_byte(&plain, fixture, 0);
	set(fixture, &(struct spi_levels){.clock = true});
	assert_int_equal(id, 0xEF);
	assert_int_equal(record(fixture, 0)->read_len, 1);
}

static void program_begins_when_chip_select_rises(void **state)
{
	struct fixture *fixture = *state;

	send(fixture, "\x06", 1);
	send(fixture, "\x02\x00\x00\x00\x5A", 5);
	assert_int_equal(record(fixture, 1)->chip.work, CHIP_WORK_PROGRAM);
	assert_int_equal(record(fixture, 1)->reply_ns, fixture->now_ns);
	assert_int_equal(record(fixture, 1)->chip.busy_until_ns,
		fixture->now_ns + record(fixture, 1)->chip.work_ns);
}

static void status_is_that_of_the_clock_before_its_byte(void **state)
{
	struct fixture *fixture = *state;
	uint64_t ready_ns;

	send(fixture, "\x06", 1);
	send(fixture, "\x02\x00\x00\x00\x5A", 5);
	ready_ns = record(fixture, 1)->chip.busy_until_ns;
	fixture->now_ns = ready_ns - 16 * HALF_PERIOD_NS - 1;
	set(fixture, &(struct spi_levels){.selected = true});
	pass_byte(&plain, fixture, READ_STATUS);
	assert_int_equal(pass_byte(&plain, fixture, 0) & BUSY, BUSY);
	assert_int_equal(pass_byte(&plain, fixture, 0) & BUSY, 0);
	set(fixture, &(struct spi_levels){.selected = false});
	assert_int_equal(record(fixture, 2)->read_len, 2);
}

static void command_that_is_cut_within_a_byte_is_refused(void **state)
{
	struct fixture *fixture = *state;

	send(fixture, "\x06", 1);
	set(fixture, &(struct spi_levels){.selected = true});
	for (size_t i = 0; i < 5; i++)
		pass_byte(&plain, fixture, i == 0 ? PAGE_PROGRAM : 0);
	pass_bit(&plain, fixture, false);
	set(fixture, &(struct spi_levels){.selected = false});
	assert_int_equal(record(fixture, 1)->chip.rule, CHIP_RULE_LENGTH);
	assert_int_equal(record(fixture, 1)->chip.work, CHIP_WORK_NONE);
}

static void read_that_is_cut_within_a_byte_is_fine(void **state)
{
	struct fixture *fixture = *state;

	set(fixture, &(struct spi_levels){.selected = true});
	pass_byte(&plain, fixture, READ_STATUS);
	pass_byte(&plain, fixture, 0);
	pass_bit(&plain, fixture, false);
	set(fixture, &(struct spi_levels){.selected = false});
	assert_int_equal(record(fixture, 0)->chip.rule, CHIP_RULE_NONE);
}

static void bits_that_are_no_byte_are_no_command(void **state)
{
	struct fixture *fixture = *state;

	set(fixture, &(struct spi_levels){.selected = true});
	for (int i = 0; i < 7; i++)
		pass_bit(&plain, fixture, true);
	set(fixture, &(struct spi_levels){.selected = false});
	assert_int_equal(record_count(fixture), 0);
}

static void part_that_is_not_on_spi_stays_silent(void **state)
{
	struct fixture *fixture = *state;
	uint8_t bytes[] = {0x9F, 0};

	pass_bytes(&plain, fixture, bytes, sizeof(bytes));
	assert_int_equal(bytes[1], 0xFF);
	assert_int_equal(record_count(fixture), 0);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, w25q128jv, take_off_bus)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(id_is_read_bit_by_bit),
		TEST(clock_that_idles_high_is_understood),
		TEST(program_begins_when_chip_select_rises),
		TEST(status_is_that_of_the_clock_before_its_byte),
		TEST(command_that_is_cut_within_a_byte_is_refused),
		TEST(read_that_is_cut_within_a_byte_is_fine),
		TEST(bits_that_are_no_byte_are_no_command),
		cmocka_unit_test_setup_teardown(
			part_that_is_not_on_spi_stays_silent, sst39sf040, take_off_bus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
