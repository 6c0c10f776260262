/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory cycles over serprog: the order and size of its requests. */
#include <errno.h>

#include "captured_log.h"
#include "cmocka_headers.h"
#include "fake_peer.h"
#include "flash.h"
#include "serprog.h"

static const struct serprog_options patient = {
	.quiet_ms = 20, .sync_ms_max = 20000, .silence_ms_max = 20000};

struct wire {
	struct fake_peer peer;
	struct captured_log captured;
	struct log log;
	struct programmer *programmer;
};

static void wire_init(struct wire *wire)
{
	*wire = (struct wire){0};
	wire->log = captured_log(&wire->captured);
	fake_peer_init(&wire->peer);
	wire->peer.buses = BUS_PARALLEL;
}

static int attach(struct wire *wire)
{
	fake_peer_start(&wire->peer);
	assert_int_equal(serprog_attach(wire->peer.fd, "the peer", &patient, &system_clock,
				 &wire->log, &wire->programmer),
		0);
	return wire->programmer->ops->select_bus(wire->programmer, BUS_PARALLEL);
}

static void detach(struct wire *wire)
{
	programmer_destroy(wire->programmer);
	fake_peer_stop(&wire->peer);
}

static int write_byte(struct wire *wire, uint32_t address, uint8_t value)
{
	return wire->programmer->ops->write_byte(wire->programmer, address, value);
}

/* Writes bytes one after the other; returns the first error. */
static int write_run(struct wire *wire, uint32_t address, size_t bytes)
{
	int error = 0;

	for (size_t i = 0; i < bytes && error == 0; i++)
		error = write_byte(wire, address + (uint32_t)i, (uint8_t)(i + 1));
	return error;
}

/* Writes a command like those of flash parts: no two addresses are neighbours. */
static void write_command(struct wire *wire)
{
	assert_int_equal(write_byte(wire, 0xff5555, 0xaa), 0);
	assert_int_equal(write_byte(wire, 0xff2aaa, 0x55), 0);
	assert_int_equal(write_byte(wire, 0xff5555, 0xa0), 0);
}

static int flush(struct wire *wire)
{
	return wire->programmer->ops->flush(wire->programmer);
}

static int read_bytes(struct wire *wire, uint32_t address, uint8_t *data, size_t bytes)
{
	return wire->programmer->ops->read_bytes(wire->programmer, address, data, bytes);
}

static void assert_run_written(const struct wire *wire, size_t first, size_t bytes)
{
	assert_int_equal(wire->peer.memory.executed_count, first + bytes);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(wire->peer.memory.writes[first + i].value, (uint8_t)(i + 1));
	assert_true(fake_peer_memory_is_content(&wire->peer.memory));
}

static void writes_reach_the_part_in_order(void **state)
{
	static const struct fake_write expected[] = {{0xff5555, 0xaa, 1}, {0xff2aaa, 0x55, 1},
		{0xff5555, 0xa0, 1}, {0xff0100, 1, 1}, {0xff0101, 2, 1}};
	struct wire wire;

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire), 0);
	write_command(&wire);
	assert_int_equal(write_run(&wire, 0xff0100, 2), 0);
	assert_int_equal(flush(&wire), 0);
	detach(&wire);
	assert_int_equal(wire.peer.memory.executed_count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(wire.peer.memory.writes[i].address, expected[i].address);
		assert_int_equal(wire.peer.memory.writes[i].value, expected[i].value);
		assert_int_equal(wire.peer.memory.writes[i].exec, expected[i].exec);
	}
	assert_int_equal(wire.peer.counts[0x0c], 3);
	assert_int_equal(wire.peer.counts[0x0d], 1);
}

static void write_is_held_back_until_flush(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire), 0);
	assert_int_equal(write_byte(&wire, 0xff0000, 1), 0);
	assert_int_equal(flush(&wire), 0);
	/* The second flush has nothing to send. */
	assert_int_equal(flush(&wire), 0);
	detach(&wire);
	assert_int_equal(wire.peer.memory.execs, 1);
}

static void read_comes_after_writes_before_it(void **state)
{
	struct wire wire;
	uint8_t data[4];

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire), 0);
	for (size_t bytes = 1; bytes <= sizeof(data); bytes++) {
		assert_int_equal(write_byte(&wire, 0xff0010, (uint8_t)(0x70 + bytes)), 0);
		assert_int_equal(read_bytes(&wire, 0xff0010, data, bytes), 0);
		assert_int_equal(data[0], 0x70 + bytes);
	}
	detach(&wire);
	assert_int_equal(wire.peer.memory.execs, 4);
	assert_true(fake_peer_memory_is_content(&wire.peer.memory));
}

/* Counts the requests that had been executed when the wait began. */
struct watch {
	struct wire *wire;
	unsigned int execs;
	unsigned int us;
};

static void watch_delay(void *context, unsigned int us)
{
	struct watch *watch = context;

	watch->us = us;
	watch->execs = watch->wire->peer.memory.execs;
}

static uint64_t watch_now_ns(void *context)
{
	(void)context;
	return 0;
}

static void wait_starts_after_the_write_it_belongs_to(void **state)
{
	struct wire wire;
	struct watch watch = {.wire = &wire};
	const struct clock clock = {watch_now_ns, watch_delay, &watch};
	struct flash flash;

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire), 0);
	flash_init(&flash, wire.programmer, &clock, &wire.log);
	write_command(&wire);
	assert_int_equal(flash_wait_us(&flash, 10000), 0);
	detach(&wire);
	assert_int_equal(watch.us, 10000);
	assert_int_equal(watch.execs, 1);
	assert_int_equal(wire.peer.counts[0x0e], 0);
}

static void operation_buffer_is_never_overfilled(void **state)
{
	static const uint16_t sizes[] = {5, 6, 9, 10, 16, 22, 23, 100, 300, 1024, 65535};
	struct wire wire;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		wire_init(&wire);
		wire.peer.memory.opbuf_bytes_max = sizes[i];
		assert_int_equal(attach(&wire), 0);
		write_command(&wire);
		assert_int_equal(write_run(&wire, 0xff0000, 300), 0);
		assert_int_equal(flush(&wire), 0);
		detach(&wire);
		assert_run_written(&wire, 3, 300);
	}
}

static void operation_buffer_too_small_for_a_byte_is_refused(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.memory.opbuf_bytes_max = 4;
	assert_int_equal(attach(&wire), -EOPNOTSUPP);
	assert_true(logged(&wire.captured, "buffers 4 bytes at a time"));
	detach(&wire);
}

static void unknown_operation_buffer_is_taken_for_a_small_one(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	fake_peer_withhold(&wire.peer, 0x07);
	wire.peer.memory.opbuf_bytes_max = 300;
	assert_int_equal(attach(&wire), 0);
	assert_true(wire.programmer->burst_bytes_max >= 256);
	assert_int_equal(write_run(&wire, 0xff0000, 1000), 0);
	assert_int_equal(flush(&wire), 0);
	detach(&wire);
	assert_run_written(&wire, 0, 1000);
}

static void long_run_is_split_where_the_peer_says(void **state)
{
	struct wire wire;

	(void)state;
	for (uint32_t most = 1; most <= 129; most += 16) {
		wire_init(&wire);
		wire.peer.write_bytes_max = most;
		wire.peer.memory.writen_bytes_max = most;
		assert_int_equal(attach(&wire), 0);
		assert_int_equal(write_run(&wire, 0xff0000, 128), 0);
		assert_int_equal(flush(&wire), 0);
		detach(&wire);
		assert_run_written(&wire, 0, 128);
	}
}

/* A burst that the limit allows is executed at once, and the limit is as large as it can be. */
static void burst_within_the_limit_is_executed_at_once(void **state)
{
	static const struct {
		uint16_t opbuf;
		uint32_t writen;
		size_t burst;
	} cases[] = {
		{20, 0, 1},
		{24, 0, 2},
		{278, 0, 256},
		{150, 0, 128},
		{149, 0, 127},
		{150, 64, 121},
		{157, 64, 128},
		{150, 1, 27},
		{65535, 0, 65072},
	};
	struct wire wire;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t bytes = cases[i].burst < 1024 ? cases[i].burst : 1024;

		wire_init(&wire);
		wire.peer.memory.opbuf_bytes_max = cases[i].opbuf;
		wire.peer.write_bytes_max = cases[i].writen;
		wire.peer.memory.writen_bytes_max = cases[i].writen;
		assert_int_equal(attach(&wire), 0);
		assert_int_equal(wire.programmer->burst_bytes_max, cases[i].burst);
		write_command(&wire);
		assert_int_equal(write_run(&wire, 0xff0000, bytes), 0);
		assert_int_equal(flush(&wire), 0);
		detach(&wire);
		assert_run_written(&wire, 3, bytes);
		assert_int_equal(wire.peer.memory.execs, 1);
	}
}

static void serial_buffer_is_never_overrun(void **state)
{
	static const uint16_t sizes[] = {5, 16, 64};
	struct wire wire;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		wire_init(&wire);
		wire.peer.slow = true;
		wire.peer.serbuf_bytes = sizes[i];
		assert_int_equal(attach(&wire), 0);
		for (unsigned int n = 0; n < 10; n++)
			assert_int_equal(write_byte(&wire, 0xff0000 + 2 * n, 1), 0);
		assert_int_equal(flush(&wire), 0);
		detach(&wire);
		assert_true(wire.peer.unread_bytes_max <= sizes[i]);
		assert_int_equal(wire.peer.memory.executed_count, 10);
	}
}

/* A device that accepts an O_WRITEN longer than its serial buffer is fast enough to read it. */
static void run_longer_than_the_serial_buffer_is_one_request(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.serbuf_bytes = 16;
	assert_int_equal(attach(&wire), 0);
	assert_int_equal(write_run(&wire, 0xff0000, 256), 0);
	assert_int_equal(flush(&wire), 0);
	detach(&wire);
	assert_int_equal(wire.peer.counts[0x0d], 1);
	assert_run_written(&wire, 0, 256);
}

static void unknown_serial_buffer_gets_one_request_at_a_time(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.slow = true;
	fake_peer_withhold(&wire.peer, 0x04);
	assert_int_equal(attach(&wire), 0);
	write_command(&wire);
	assert_int_equal(flush(&wire), 0);
	detach(&wire);
	assert_int_equal(wire.peer.unread_bytes_max, 5);
	assert_int_equal(wire.peer.memory.executed_count, 3);
}

static void peer_with_bare_minimum_is_used(void **state)
{
	static const uint8_t withheld[][2] = {{0x09, 0x0d}, {0x0a, 0x0d}};
	struct wire wire;
	uint8_t data[3];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		wire_init(&wire);
		fake_peer_withhold(&wire.peer, withheld[i][0]);
		fake_peer_withhold(&wire.peer, withheld[i][1]);
		fake_peer_withhold(&wire.peer, 0x05);
		fake_peer_withhold(&wire.peer, 0x12);
		fake_peer_withhold(&wire.peer, 0x13);
		assert_int_equal(attach(&wire), 0);
		assert_int_equal(wire.programmer->buses, BUSES_MEMORY);
		assert_int_equal(write_run(&wire, 0xff0000, 3), 0);
		assert_int_equal(read_bytes(&wire, 0xff0000, data, 1), 0);
		assert_int_equal(read_bytes(&wire, 0xff0000, data, 3), 0);
		assert_int_equal(data[2], 3);
		detach(&wire);
		assert_int_equal(wire.peer.counts[withheld[i][0]], 0);
		assert_int_equal(wire.peer.counts[withheld[i][1]], 0);
	}
}

static void every_bus_is_told_to_a_peer_that_has_all(void **state)
{
	static const uint8_t buses[] = {BUS_PARALLEL, BUS_LPC, BUS_FWH, BUS_SPI};
	struct wire wire;
	struct programmer *programmer;
	uint8_t rx[3];

	(void)state;
	wire_init(&wire);
	wire.peer.buses = BUSES_MEMORY | BUS_SPI;
	assert_int_equal(attach(&wire), 0);
	programmer = wire.programmer;
	assert_int_equal(programmer->buses, BUSES_MEMORY | BUS_SPI);
	/* Reads are answered in order, so the peer has seen the selected bus before them. */
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(programmer->ops->select_bus(programmer, buses[i]), 0);
		if (buses[i] == BUS_SPI)
			assert_int_equal(programmer->ops->spi_command(
						 programmer, (const uint8_t[]){0x9f}, 1, rx, 3),
				0);
		else
			assert_int_equal(read_bytes(&wire, 0xff0000, rx, 3), 0);
		assert_int_equal(wire.peer.bus, buses[i]);
	}
	detach(&wire);
}

static void read_limit_comes_from_the_peer(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.read_bytes_max = 100;
	assert_int_equal(attach(&wire), 0);
	assert_int_equal(wire.programmer->read_bytes_max, 100);
	detach(&wire);
}

static void assert_flush_fails(enum peer_fault fault, int error, const char *message)
{
	struct wire wire;
	uint8_t data;

	wire_init(&wire);
	wire.peer.fault = fault;
	assert_int_equal(attach(&wire), 0);
	write_command(&wire);
	assert_int_equal(flush(&wire), error);
	assert_true(logged(&wire.captured, message));
	/* After a lost answer, the client sends nothing more. */
	assert_int_equal(write_byte(&wire, 0xff0000, 1), -ECONNRESET);
	assert_int_equal(flush(&wire), -ECONNRESET);
	assert_int_equal(read_bytes(&wire, 0xff0000, &data, 1), -ECONNRESET);
	detach(&wire);
	assert_int_equal(wire.peer.counts[0x09], 0);
}

static void refused_write_is_reported(void **state)
{
	(void)state;
	assert_flush_fails(PEER_WRITE_REFUSED, -EOPNOTSUPP, "the peer refused (memory write)");
}

static void garbage_for_a_write_is_reported(void **state)
{
	(void)state;
	assert_flush_fails(PEER_WRITE_GARBAGE, -EBADMSG, "no serprog answer");
}

static void peer_that_hangs_up_within_its_buffer_is_reported(void **state)
{
	(void)state;
	assert_flush_fails(PEER_WRITE_HANGS_UP, -ECONNRESET, "hung up");
}

static void refused_execution_is_reported(void **state)
{
	(void)state;
	assert_flush_fails(PEER_EXEC_REFUSED, -EOPNOTSUPP, "the peer refused (memory write)");
}

static void refused_read_is_reported(void **state)
{
	struct wire wire;
	uint8_t data;

	(void)state;
	wire_init(&wire);
	wire.peer.fault = PEER_READ_REFUSED;
	assert_int_equal(attach(&wire), 0);
	assert_int_equal(read_bytes(&wire, 0xff0000, &data, 1), -EOPNOTSUPP);
	assert_true(logged(&wire.captured, "the peer refused (memory read)"));
	detach(&wire);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_reach_the_part_in_order),
		cmocka_unit_test(write_is_held_back_until_flush),
		cmocka_unit_test(read_comes_after_writes_before_it),
		cmocka_unit_test(wait_starts_after_the_write_it_belongs_to),
		cmocka_unit_test(operation_buffer_is_never_overfilled),
		cmocka_unit_test(operation_buffer_too_small_for_a_byte_is_refused),
		cmocka_unit_test(unknown_operation_buffer_is_taken_for_a_small_one),
		cmocka_unit_test(long_run_is_split_where_the_peer_says),
		cmocka_unit_test(burst_within_the_limit_is_executed_at_once),
		cmocka_unit_test(serial_buffer_is_never_overrun),
		cmocka_unit_test(run_longer_than_the_serial_buffer_is_one_request),
		cmocka_unit_test(unknown_serial_buffer_gets_one_request_at_a_time),
		cmocka_unit_test(peer_with_bare_minimum_is_used),
		cmocka_unit_test(every_bus_is_told_to_a_peer_that_has_all),
		cmocka_unit_test(read_limit_comes_from_the_peer),
		cmocka_unit_test(refused_write_is_reported),
		cmocka_unit_test(garbage_for_a_write_is_reported),
		cmocka_unit_test(peer_that_hangs_up_within_its_buffer_is_reported),
		cmocka_unit_test(refused_execution_is_reported),
		cmocka_unit_test(refused_read_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
