/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A programmer with an SPI chip: transfers, their frequency and the delays between them. */
#include "device_fixture.h"

SET_UP(w25q128jv, "W25Q128JV", .native_delay = false)
SET_UP(w25q128jv_native_delay, "W25Q128JV", .native_delay = true)
SET_UP(w25q128jv_wire_time, "W25Q128JV", .spi_wire_time = true)

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
	assert_int_equal(fixture->device.operations.len, 0);
	assert_int_equal(fixture->executed.count, 0);
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
	assert_int_equal(fixture->event.wire_ns, 0); /* there is no frequency yet */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(w25q128jv_native_delay, native_delays_add_up_and_end_never_early),
		WITH(w25q128jv_native_delay, native_delays_past_the_buffer_are_refused),
		WITH(w25q128jv, spi_request_reaches_the_chip),
		WITH(w25q128jv, spi_request_of_no_or_too_many_bytes_is_refused),
		WITH(w25q128jv, spi_frequency_is_capped_by_the_part_and_zero_refused),
		WITH(w25q128jv, bus_other_than_spi_is_refused),
		WITH(w25q128jv_wire_time, wire_time_passes_before_the_reply),
		WITH(w25q128jv, reconnected_host_finds_no_settings_of_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
