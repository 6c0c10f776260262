/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory cycles over serprog: the order and size of the requests. */
#include <errno.h>

#include "flash.h"
#include "fake_peer.h"

static void restart(struct client *client)
{
	client_restart(client);
	client->peer.buses = BUS_PARALLEL;
}

FIXTURE(client, restart, client_detach);

static void attach(struct client *client)
{
	assert_int_equal(client_attach(client, &patient, BUS_PARALLEL), 0);
}

static int write_byte(struct client *client, uint32_t address, uint8_t value)
{
	return client->programmer->ops->write_byte(client->programmer, address, value);
}

/* Writes bytes one after the other; returns the first error. */
static int write_run(struct client *client, uint32_t address, size_t bytes)
{
	int error = 0;

	for (size_t i = 0; i < bytes && error == 0; i++)
		error = write_byte(client, address + (uint32_t)i, (uint8_t)(i + 1));
	return error;
}

/* Writes a command like those of flash parts: no two addresses are neighbours. */
static void write_command(struct client *client)
{
	assert_int_equal(write_byte(client, 0xff5555, 0xaa), 0);
	assert_int_equal(write_byte(client, 0xff2aaa, 0x55), 0);
	assert_int_equal(write_byte(client, 0xff5555, 0xa0), 0);
}

static int flush(struct client *client)
{
	return client->programmer->ops->flush(client->programmer);
}

static void flush_and_detach(struct client *client)
{
	assert_int_equal(flush(client), 0);
	client_detach(client);
}

static int read_bytes(struct client *client, uint32_t address, uint8_t *data, size_t bytes)
{
	return client->programmer->ops->read_bytes(client->programmer, address, data, bytes);
}

static void assert_run_written(const struct client *client, size_t first, size_t bytes)
{
	assert_int_equal(client->peer.memory.executed_count, first + bytes);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(client->peer.memory.writes[first + i].value, (uint8_t)(i + 1));
	assert_true(fake_peer_memory_is_content(&client->peer.memory));
}

static void writes_reach_the_part_in_order(struct client *client)
{
	static const struct fake_write expected[] = {{0xff5555, 0xaa, 1}, {0xff2aaa, 0x55, 1},
		{0xff5555, 0xa0, 1}, {0xff0100, 1, 1}, {0xff0101, 2, 1}};

	attach(client);
	write_command(client);
	assert_int_equal(write_run(client, 0xff0100, 2), 0);
	flush_and_detach(client);
	assert_int_equal(client->peer.memory.executed_count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(client->peer.memory.writes[i].address, expected[i].address);
		assert_int_equal(client->peer.memory.writes[i].value, expected[i].value);
		assert_int_equal(client->peer.memory.writes[i].exec, expected[i].exec);
	}
	assert_int_equal(client->peer.counts[0x0c], 3);
	assert_int_equal(client->peer.counts[0x0d], 1);
}

static void write_is_buffered_until_flush(struct client *client)
{
	attach(client);
	assert_int_equal(write_byte(client, 0xff0000, 1), 0);
	assert_int_equal(flush(client), 0);
	/* The second flush has nothing to send. */
	flush_and_detach(client);
	assert_int_equal(client->peer.memory.execs, 1);
}

static void read_follows_earlier_writes(struct client *client)
{
	uint8_t data[4];

	attach(client);
	for (size_t bytes = 1; bytes <= sizeof(data); bytes++) {
		assert_int_equal(write_byte(client, 0xff0010, (uint8_t)(0x70 + bytes)), 0);
		assert_int_equal(read_bytes(client, 0xff0010, data, bytes), 0);
		assert_int_equal(data[0], 0x70 + bytes);
	}
	client_detach(client);
	assert_int_equal(client->peer.memory.execs, 4);
	assert_true(fake_peer_memory_is_content(&client->peer.memory));
}

/* A wait: its length, and the number of O_EXECs before it. */
struct watch {
	struct client *client;
	unsigned int execs;
	unsigned int us;
};

static void watch_delay(void *context, unsigned int us)
{
	struct watch *watch = context;

	watch->us = us;
	watch->execs = watch->client->peer.memory.execs;
}

static uint64_t watch_now_ns(void *context)
{
	(void)context;
	return 0;
}

static void wait_starts_after_earlier_writes(struct client *client)
{
	struct watch watch = {.client = client};
	const struct clock clock = {watch_now_ns, watch_delay, &watch};
	struct flash flash;

	attach(client);
	flash_init(&flash, client->programmer, &clock, &client->log);
	write_command(client);
	assert_int_equal(flash_wait_us(&flash, 10000), 0);
	client_detach(client);
	assert_int_equal(watch.us, 10000);
	assert_int_equal(watch.execs, 1);
	assert_int_equal(client->peer.counts[0x0e], 0);
}

static void operation_buffer_is_never_overfilled(struct client *client)
{
	static const uint16_t sizes[] = {5, 6, 9, 10, 16, 22, 23, 100, 300, 1024, 65535};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		restart(client);
		client->peer.memory.opbuf_bytes_max = sizes[i];
		attach(client);
		write_command(client);
		assert_int_equal(write_run(client, 0xff0000, 300), 0);
		flush_and_detach(client);
		assert_run_written(client, 3, 300);
	}
}

static void operation_buffer_too_small_for_a_byte_is_refused(struct client *client)
{
	client->peer.memory.opbuf_bytes_max = 4;
	assert_int_equal(client_attach(client, &patient, BUS_PARALLEL), -EOPNOTSUPP);
	assert_true(logged(&client->captured, "buffers 4 bytes at a time"));
}

static void unknown_operation_buffer_is_assumed_to_be_small(struct client *client)
{
	fake_peer_withhold(&client->peer, 0x07);
	client->peer.memory.opbuf_bytes_max = 300;
	attach(client);
	assert_true(client->programmer->burst_bytes_max >= 256);
	assert_int_equal(write_run(client, 0xff0000, 1000), 0);
	flush_and_detach(client);
	assert_run_written(client, 0, 1000);
}

static void long_run_is_split_at_the_limit_of_the_peer(struct client *client)
{
	for (uint32_t most = 1; most <= 129; most += 16) {
		restart(client);
		client->peer.write_bytes_max = most;
		client->peer.memory.writen_bytes_max = most;
		attach(client);
		assert_int_equal(write_run(client, 0xff0000, 128), 0);
		flush_and_detach(client);
		assert_run_written(client, 0, 128);
	}
}

/* A burst that the limit allows takes one O_EXEC, and the limit is as large as it can be. */
static void burst_within_the_limit_is_executed_at_once(struct client *client)
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

	for (size_t i = 0; i < COUNT(cases); i++) {
		const size_t bytes = cases[i].burst < 1024 ? cases[i].burst : 1024;

		restart(client);
		client->peer.memory.opbuf_bytes_max = cases[i].opbuf;
		client->peer.write_bytes_max = cases[i].writen;
		client->peer.memory.writen_bytes_max = cases[i].writen;
		attach(client);
		assert_int_equal(client->programmer->burst_bytes_max, cases[i].burst);
		write_command(client);
		assert_int_equal(write_run(client, 0xff0000, bytes), 0);
		flush_and_detach(client);
		assert_run_written(client, 3, bytes);
		assert_int_equal(client->peer.memory.execs, 1);
	}
}

static void serial_buffer_is_never_overrun(struct client *client)
{
	static const uint16_t sizes[] = {5, 16, 64};

	for (size_t i = 0; i < COUNT(sizes); i++) {
		restart(client);
		client->peer.slow = true;
		client->peer.serbuf_bytes = sizes[i];
		attach(client);
		for (unsigned int n = 0; n < 10; n++)
			assert_int_equal(write_byte(client, 0xff0000 + 2 * n, 1), 0);
		flush_and_detach(client);
		assert_true(client->peer.unread_bytes_max <= sizes[i]);
		assert_int_equal(client->peer.memory.executed_count, 10);
	}
}

/* A device that offers an O_WRITEN longer than its serial buffer reads it fast enough. */
static void run_longer_than_the_serial_buffer_is_one_request(struct client *client)
{
	client->peer.serbuf_bytes = 16;
	attach(client);
	assert_int_equal(write_run(client, 0xff0000, 256), 0);
	flush_and_detach(client);
	assert_int_equal(client->peer.counts[0x0d], 1);
	assert_run_written(client, 0, 256);
}

static void unknown_serial_buffer_gets_one_request_at_a_time(struct client *client)
{
	client->peer.slow = true;
	fake_peer_withhold(&client->peer, 0x04);
	attach(client);
	write_command(client);
	flush_and_detach(client);
	assert_int_equal(client->peer.unread_bytes_max, 5);
	assert_int_equal(client->peer.memory.executed_count, 3);
}

static void peer_without_optional_commands_is_used(struct client *client)
{
	static const uint8_t withheld[][2] = {{0x09, 0x0d}, {0x0a, 0x0d}};
	uint8_t data[3];

	for (size_t i = 0; i < 2; i++) {
		restart(client);
		fake_peer_withhold(&client->peer, withheld[i][0]);
		fake_peer_withhold(&client->peer, withheld[i][1]);
		fake_peer_withhold(&client->peer, 0x05);
		fake_peer_withhold(&client->peer, 0x12);
		fake_peer_withhold(&client->peer, 0x13);
		attach(client);
		assert_int_equal(client->programmer->buses, BUSES_MEMORY);
		assert_int_equal(write_run(client, 0xff0000, 3), 0);
		assert_int_equal(read_bytes(client, 0xff0000, data, 1), 0);
		assert_int_equal(read_bytes(client, 0xff0000, data, 3), 0);
		assert_int_equal(data[2], 3);
		client_detach(client);
		assert_int_equal(client->peer.counts[withheld[i][0]], 0);
		assert_int_equal(client->peer.counts[withheld[i][1]], 0);
	}
}

static void every_bus_is_selected_on_a_peer_that_has_all(struct client *client)
{
	static const uint8_t buses[] = {BUS_PARALLEL, BUS_LPC, BUS_FWH, BUS_SPI};
	struct programmer *programmer;
	uint8_t rx[3];

	client->peer.buses = BUSES_MEMORY | BUS_SPI;
	attach(client);
	programmer = client->programmer;
	assert_int_equal(programmer->buses, BUSES_MEMORY | BUS_SPI);
	/* Requests are served in order, so the peer takes the bus before it answers the read. */
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(programmer->ops->select_bus(programmer, buses[i]), 0);
		if (buses[i] == BUS_SPI)
			assert_int_equal(programmer->ops->spi_command(
						 programmer, (const uint8_t[]){0x9f}, 1, rx, 3),
				0);
		else
			assert_int_equal(read_bytes(client, 0xff0000, rx, 3), 0);
		assert_int_equal(client->peer.bus, buses[i]);
	}
}

static void read_limit_comes_from_the_peer(struct client *client)
{
	client->peer.read_bytes_max = 100;
	attach(client);
	assert_int_equal(client->programmer->read_bytes_max, 100);
}

static void flush_that_fails_is_reported(struct client *client)
{
	static const struct {
		enum peer_fault fault;
		int error;
		const char *message;
	} rows[] = {
		{PEER_WRITE_REFUSED, -EOPNOTSUPP, "the peer refused (memory write)"},
		{PEER_WRITE_GARBAGE, -EBADMSG, "no serprog answer"},
		{PEER_WRITE_HANGS_UP, -ECONNRESET, "hung up"},
		{PEER_EXEC_REFUSED, -EOPNOTSUPP, "the peer refused (memory write)"},
	};
	uint8_t data;

	for (size_t i = 0; i < COUNT(rows); i++) {
		restart(client);
		client->peer.fault = rows[i].fault;
		attach(client);
		write_command(client);
		assert_int_equal(flush(client), rows[i].error);
		assert_true(logged(&client->captured, rows[i].message));
		/* After a failure, the client sends nothing more. */
		assert_int_equal(write_byte(client, 0xff0000, 1), -ECONNRESET);
		assert_int_equal(flush(client), -ECONNRESET);
		assert_int_equal(read_bytes(client, 0xff0000, &data, 1), -ECONNRESET);
		client_detach(client);
		assert_int_equal(client->peer.counts[0x09], 0);
	}
}

static void refused_read_is_reported(struct client *client)
{
	uint8_t data;

	client->peer.fault = PEER_READ_REFUSED;
	attach(client);
	assert_int_equal(read_bytes(client, 0xff0000, &data, 1), -EOPNOTSUPP);
	assert_true(logged(&client->captured, "the peer refused (memory read)"));
}

static const struct CMUnitTest tests[] = {
	CASE_ON(client, writes_reach_the_part_in_order),
	CASE_ON(client, write_is_buffered_until_flush),
	CASE_ON(client, read_follows_earlier_writes),
	CASE_ON(client, wait_starts_after_earlier_writes),
	CASE_ON(client, operation_buffer_is_never_overfilled),
	CASE_ON(client, operation_buffer_too_small_for_a_byte_is_refused),
	CASE_ON(client, unknown_operation_buffer_is_assumed_to_be_small),
	CASE_ON(client, long_run_is_split_at_the_limit_of_the_peer),
	CASE_ON(client, burst_within_the_limit_is_executed_at_once),
	CASE_ON(client, serial_buffer_is_never_overrun),
	CASE_ON(client, run_longer_than_the_serial_buffer_is_one_request),
	CASE_ON(client, unknown_serial_buffer_gets_one_request_at_a_time),
	CASE_ON(client, peer_without_optional_commands_is_used),
	CASE_ON(client, every_bus_is_selected_on_a_peer_that_has_all),
	CASE_ON(client, read_limit_comes_from_the_peer),
	CASE_ON(client, flush_that_fails_is_reported),
	CASE_ON(client, refused_read_is_reported),
};

RUN_CASES(tests)
