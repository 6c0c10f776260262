/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "serprog/device.h"

struct fixture {
	void *memory;
	struct chip chip;
	struct clock clock;
	struct device device;
	struct event event;
	uint8_t reply[512];
	size_t reply_len;
};

static void fixture_init(struct fixture *fixture, const struct device_options *options)
{
	const struct part *part = part_find("W25Q128JV");

	memset(fixture, 0, sizeof(*fixture));
	fixture->memory = calloc(1, chip_memory_bytes(part));
	chip_init(&fixture->chip, part, &(struct corner){.kind = CORNER_TYP}, fixture->memory);
	assert_int_equal(clock_init(&fixture->clock, CLOCK_SOURCE_MONOTONIC), 0);
	device_init(&fixture->device, &fixture->chip, &fixture->clock, options);
}

static int set_up(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));

	fixture_init(fixture, &(struct device_options){0});
	*state = fixture;
	return 0;
}

static int set_up_native_delay(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));

	fixture_init(fixture, &(struct device_options){.native_delay = true});
	*state = fixture;
	return 0;
}

static int set_up_wire_time(void **state)
{
	struct fixture *fixture = malloc(sizeof(*fixture));

	fixture_init(fixture, &(struct device_options){.spi_wire_time = true});
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	free(fixture->memory);
	free(fixture);
	return 0;
}

static void ask(struct fixture *fixture, const uint8_t *bytes, size_t len)
{
	struct serprog_request request;

	assert_int_equal(serprog_parse(bytes, len, &device_limits, &request), SERPROG_PARSE_DONE);
	fixture->reply_len = device_answer(&fixture->device, &request,
		clock_now_ns(&fixture->clock), fixture->reply, &fixture->event);
}

static void ask_op(struct fixture *fixture, uint8_t op)
{
	ask(fixture, &op, 1);
}

static void assert_nak(const struct fixture *fixture)
{
	assert_int_equal(fixture->reply_len, 1);
	assert_int_equal(fixture->reply[0], SERPROG_NAK);
	assert_false(fixture->event.ack);
}

static bool offers(struct fixture *fixture, uint8_t op)
{
	ask_op(fixture, SERPROG_Q_CMDMAP);
	assert_int_equal(fixture->reply_len, 33);
	return fixture->reply[1 + op / 8] >> op % 8 & 1;
}

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

static void native_delays_add_up_and_end_never_early(void **state)
{
	static const uint8_t delay[] = {0x0E, 0xE8, 0x03, 0, 0}; /* 1000 us */
	struct fixture *fixture = *state;
	uint64_t start_ns;

	assert_true(offers(fixture, SERPROG_O_DELAY));
	ask(fixture, delay, sizeof(delay));
	ask(fixture, delay, sizeof(delay));
	start_ns = clock_now_ns(&fixture->clock);
	ask_op(fixture, SERPROG_O_EXEC);
	assert_true(clock_now_ns(&fixture->clock) - start_ns >= 2000000);
	assert_int_equal(fixture->device.delay_us, 0);
}

static void native_delays_past_the_buffer_are_refused(void **state)
{
	static const uint8_t delay[] = {0x0E, 1, 0, 0, 0};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < 4096 / 5; i++)
		ask(fixture, delay, sizeof(delay));
	assert_true(fixture->event.ack);
	ask(fixture, delay, sizeof(delay));
	assert_nak(fixture);
	ask_op(fixture, SERPROG_O_INIT);
	ask(fixture, delay, sizeof(delay));
	assert_true(fixture->event.ack);
}

static void spi_request_reaches_the_chip(void **state)
{
	static const uint8_t rdid[] = {0x13, 1, 0, 0, 3, 0, 0, 0x9F};
	static const uint8_t expected[] = {0x06, 0xEF, 0x40, 0x18};
	struct fixture *fixture = *state;

	ask(fixture, rdid, sizeof(rdid));
	assert_int_equal(fixture->reply_len, sizeof(expected));
	assert_memory_equal(fixture->reply, expected, sizeof(expected));
	assert_int_equal(fixture->event.kind, EVENT_SPI);
	assert_int_equal(fixture->event.write_len, 1);
	assert_int_equal(fixture->event.read_len, 3);
	assert_int_equal(fixture->event.wire_ns, 0);
}

static void spi_request_of_no_or_too_many_bytes_is_refused(void **state)
{
	static const uint8_t nothing[] = {0x13, 0, 0, 0, 3, 0, 0};
	static const uint8_t too_many[] = {0x13, 1, 0xF0, 0, 0, 0, 0};
	struct fixture *fixture = *state;

	ask(fixture, nothing, sizeof(nothing));
	assert_nak(fixture);
	ask(fixture, too_many, sizeof(too_many));
	assert_nak(fixture);
	assert_int_equal(fixture->event.kind, EVENT_SERPROG);
}

static void spi_frequency_is_capped_by_the_part_and_zero_refused(void **state)
{
	static const uint8_t zero[] = {0x14, 0, 0, 0, 0};
	static const uint8_t slow[] = {0x14, 0x40, 0x42, 0x0F, 0};
	static const uint8_t fast[] = {0x14, 0xFF, 0xFF, 0xFF, 0xFF};
	static const uint8_t capped[] = {0x06, 0x40, 0x6B, 0xED, 0x07}; /* 133 MHz */
	struct fixture *fixture = *state;

	ask(fixture, zero, sizeof(zero));
	assert_nak(fixture);
	ask(fixture, slow, sizeof(slow));
	assert_memory_equal(fixture->reply + 1, slow + 1, 4);
	ask(fixture, fast, sizeof(fast));
	assert_int_equal(fixture->reply_len, sizeof(capped));
	assert_memory_equal(fixture->reply, capped, sizeof(capped));
}

static void bus_other_than_spi_is_refused(void **state)
{
	static const uint8_t parallel[] = {0x12, 0x01};
	static const uint8_t spi[] = {0x12, 0x08};
	struct fixture *fixture = *state;

	ask(fixture, parallel, sizeof(parallel));
	assert_nak(fixture);
	ask(fixture, spi, sizeof(spi));
	assert_true(fixture->event.ack);
}

static void wire_time_passes_before_the_reply(void **state)
{
	static const uint8_t frequency[] = {0x14, 0x40, 0x42, 0x0F, 0}; /* 1 MHz */
	static const uint8_t rdid[] = {0x13, 1, 0, 0, 124, 0, 0, 0x9F}; /* 1000 bits */
	struct fixture *fixture = *state;
	uint64_t start_ns;

	ask(fixture, rdid, sizeof(rdid));
	assert_int_equal(fixture->event.wire_ns, 0); /* no frequency yet */
	ask(fixture, frequency, sizeof(frequency));
	start_ns = clock_now_ns(&fixture->clock);
	ask(fixture, rdid, sizeof(rdid));
	assert_true(fixture->event.wire_ns >= 1000000);
	assert_true(clock_now_ns(&fixture->clock) - start_ns >= 1000000);
}

static void reconnected_host_finds_no_settings_of_the_one_before(void **state)
{
	static const uint8_t frequency[] = {0x14, 0x40, 0x42, 0x0F, 0};
	struct fixture *fixture = *state;

	ask(fixture, frequency, sizeof(frequency));
	device_reconnect(&fixture->device);
	assert_int_equal(fixture->device.spi_clock_hz, 0);
}

#define WITH(set_up_fn, test) cmocka_unit_test_setup_teardown(test, set_up_fn, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(set_up, queries_are_answered_as_the_protocol_says),
		WITH(set_up, name_is_padded_to_sixteen_bytes),
		WITH(set_up, delay_is_not_offered_and_refused_by_default),
		WITH(set_up, every_opcode_that_is_not_offered_is_refused),
		WITH(set_up_native_delay, native_delays_add_up_and_end_never_early),
		WITH(set_up_native_delay, native_delays_past_the_buffer_are_refused),
		WITH(set_up, spi_request_reaches_the_chip),
		WITH(set_up, spi_request_of_no_or_too_many_bytes_is_refused),
		WITH(set_up, spi_frequency_is_capped_by_the_part_and_zero_refused),
		WITH(set_up, bus_other_than_spi_is_refused),
		WITH(set_up_wire_time, wire_time_passes_before_the_reply),
		WITH(set_up, reconnected_host_finds_no_settings_of_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
