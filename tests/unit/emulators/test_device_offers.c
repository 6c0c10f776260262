/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Abilities that a programmer reports, and its refusal of all others. */
#include "device_fixture.h"

SET_UP(w25q128jv, "W25Q128JV", .native_delay = false)
SET_UP(sst39sf040, "SST39SF040", .native_delay = false)
SET_UP(sst39sf040_native_delay, "SST39SF040", .native_delay = true)
SET_UP(sst49lf040, "SST49LF040", .native_delay = false)
SET_UP(m50fw040, "M50FW040", .native_delay = false)

static void queries_are_answered_as_the_protocol_says(void **state)
{
	static const struct {
		uint8_t op;
		size_t len;
		uint8_t reply[4];
	} queries[] = {
		{0x00, 1, {0x06}},
		{0x01, 3, {0x06, 1, 0}},
		{0x04, 3, {0x06, 0xFF, 0xFF}},
		{0x05, 2, {0x06, 0x08}},
		{0x08, 4, {0x06, 0x00, 0xF0, 0x00}},
		{0x11, 4, {0x06, 0x00, 0xF0, 0x00}},
		{0x10, 2, {0x15, 0x06}},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		ask_op(fixture, queries[i].op);
		assert_int_equal(fixture->reply_len, queries[i].len);
		assert_memory_equal(fixture->reply, queries[i].reply, queries[i].len);
		assert_true(fixture->event.ack);
		assert_int_equal(fixture->event.kind, EVENT_SERPROG);
	}
}

static void name_is_padded_to_sixteen_bytes(void **state)
{
	struct fixture *fixture = *state;

	ask_op(fixture, SERPROG_Q_PGMNAME);
	assert_int_equal(fixture->reply_len, 17);
	assert_string_equal((const char *)fixture->reply + 1, "serprog-emu");
	assert_int_equal(fixture->reply[16], 0);
}

static void delay_is_not_offered_and_refused_by_default(void **state)
{
	static const uint8_t delay[] = {0x0E, 1, 0, 0, 0};
	struct fixture *fixture = *state;

	assert_false(offers(fixture, SERPROG_O_DELAY));
	assert_false(offers(fixture, SERPROG_O_EXEC));
	assert_true(offers(fixture, SERPROG_O_SPIOP));
	ask(fixture, delay, sizeof(delay));
	assert_nak(fixture);
	ask_op(fixture, SERPROG_O_EXEC);
	assert_nak(fixture);
}

static void every_opcode_that_is_not_offered_is_refused(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned int op = 0; op < 256; op++) {
		uint8_t bytes[16] = {(uint8_t)op};

		if (offers(fixture, (uint8_t)op))
			continue;
		ask(fixture, bytes, sizeof(bytes));
		assert_nak(fixture);
	}
}

static void programmer_has_the_bus_of_its_chip_alone(void **state)
{
	struct fixture *fixture = *state;
	uint8_t bus = fixture->chip.part->parallel->bus == PARALLEL_BUS_PARALLEL ? 0x01
		      : fixture->chip.part->parallel->bus == PARALLEL_BUS_LPC    ? 0x02
										 : 0x04;

	ask_op(fixture, SERPROG_Q_BUSTYPE);
	assert_int_equal(fixture->reply[1], bus);
	for (uint8_t bit = 0x01; bit <= 0x08; bit <<= 1) {
		uint8_t request[] = {0x12, bit};

		ask(fixture, request, sizeof(request));
		assert_int_equal(fixture->event.ack, bit == bus);
	}
	assert_false(offers(fixture, SERPROG_O_SPIOP));
	assert_false(offers(fixture, SERPROG_S_SPI_FREQ));
	assert_false(offers(fixture, SERPROG_S_SPI_CS));
	assert_int_equal(offers(fixture, SERPROG_Q_CHIPSIZE), bus == 0x01);
}

static void cycles_are_offered_and_delays_only_if_native(void **state)
{
	static const uint8_t ops[] = {0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x0F, 0x11};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(ops); i++)
		assert_true(offers(fixture, ops[i]));
	assert_int_equal(offers(fixture, SERPROG_O_DELAY), fixture->device.options.native_delay);
	put_delay(fixture, 1);
	assert_int_equal(fixture->event.ack, fixture->device.options.native_delay);
}

static void sizes_of_buffer_writes_and_part_are_told(void **state)
{
	struct fixture *fixture = *state;

	ask_op(fixture, SERPROG_Q_OPBUF);
	assert_memory_equal(fixture->reply, "\x06\x00\x10", 3);
	ask_op(fixture, SERPROG_Q_WRNMAXLEN);
	assert_memory_equal(fixture->reply, "\x06\xF9\x0F\x00", 4);
	ask_op(fixture, SERPROG_Q_CHIPSIZE);
	assert_memory_equal(fixture->reply, "\x06\x13", 2);
	assert_int_equal(fixture->reply_len, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q128jv, queries_are_answered_as_the_protocol_says),
		WITH(w25q128jv, name_is_padded_to_sixteen_bytes),
		WITH(w25q128jv, delay_is_not_offered_and_refused_by_default),
		WITH(w25q128jv, every_opcode_that_is_not_offered_is_refused),
		WITH(sst39sf040, every_opcode_that_is_not_offered_is_refused),
		WITH(sst39sf040, programmer_has_the_bus_of_its_chip_alone),
		WITH(sst49lf040, programmer_has_the_bus_of_its_chip_alone),
		WITH(m50fw040, programmer_has_the_bus_of_its_chip_alone),
		WITH(sst39sf040, cycles_are_offered_and_delays_only_if_native),
		WITH(sst39sf040_native_delay, cycles_are_offered_and_delays_only_if_native),
		WITH(sst39sf040, sizes_of_buffer_writes_and_part_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
