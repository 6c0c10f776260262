/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_peer.h"

/* Short time limits, for cases that wait until one of them expires. */
static const struct serprog_options hasty = {
	.quiet_ms = 20, .sync_ms_max = 100, .silence_ms_max = 100};

FIXTURE(client, client_start, client_detach);

static void attach(struct client *client)
{
	assert_int_equal(client_attach(client, &patient, BUS_SPI), 0);
}

static int command(struct client *client, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	const uint8_t tx[1024] = {0x9f};

	return client->programmer->ops->spi_command(client->programmer, tx, tx_bytes, rx, rx_bytes);
}

static void operation_returns_what_the_peer_sends(struct client *client)
{
	uint8_t rx[300];

	attach(client);
	assert_int_equal(command(client, 5, rx, sizeof(rx)), 0);
	for (size_t i = 0; i < sizeof(rx); i++)
		assert_int_equal(rx[i], (uint8_t)(0x9f + i));
	client_detach(client);
	assert_int_equal(client->peer.counts[0x13], 1);
}

static void operation_without_answer_bytes_is_acknowledged(struct client *client)
{
	attach(client);
	assert_int_equal(command(client, 1, NULL, 0), 0);
}

static int hold(struct client *client)
{
	const uint8_t write_enable = 0x06;

	return client->programmer->ops->spi_hold(client->programmer, &write_enable, 1);
}

#define HELD_BYTES (7 + 1)

static void hold_then_command(struct client *client)
{
	client->peer.slow = true;
	attach(client);
	assert_int_equal(hold(client), 0);
	assert_int_equal(command(client, 260, NULL, 0), 0);
	client_detach(client);
	assert_int_equal(client->peer.counts[0x13], 2);
}

static void held_operation_goes_out_with_the_next_one(struct client *client)
{
	hold_then_command(client);
	assert_int_equal(client->peer.unread_bytes_max, HELD_BYTES + 7 + 260);
}

static void held_operation_goes_out_alone_if_the_serial_buffer_is_small(struct client *client)
{
	static const uint16_t too_small_bytes[] = {1, 7 + 260, HELD_BYTES + 7 + 260 - 1};

	for (size_t i = 0; i < COUNT(too_small_bytes); i++) {
		client_restart(client);
		client->peer.serbuf_bytes = too_small_bytes[i];
		hold_then_command(client);
		assert_int_equal(client->peer.unread_bytes_max, 7 + 260);
	}
}

static void held_operation_ends_before_one_with_answer_bytes_begins(struct client *client)
{
	uint8_t rx[3];

	client->peer.slow = true;
	attach(client);
	assert_int_equal(hold(client), 0);
	assert_int_equal(command(client, 1, rx, sizeof(rx)), 0);
	client_detach(client);
	assert_int_equal(rx[2], 0x9f + 2);
	assert_int_equal(client->peer.counts[0x13], 2);
	assert_int_equal(client->peer.unread_bytes_max, HELD_BYTES);
}

static void refused_held_operation_is_reported_and_nothing_more_is_sent(struct client *client)
{
	client->peer.fault = PEER_SPIOP_REFUSED;
	attach(client);
	assert_int_equal(hold(client), 0);
	assert_int_equal(command(client, 5, NULL, 0), -EOPNOTSUPP);
	assert_true(logged(&client->captured, "the peer refused (SPI operation)"));
	assert_int_equal(hold(client), -ECONNRESET);
	client_detach(client);
	assert_int_equal(client->peer.counts[0x15], 1);
}

static void session_turns_pins_on_and_off_and_sends_no_delay_or_chip_select(struct client *client)
{
	attach(client);
	client_detach(client);
	assert_int_equal(client->peer.counts[0x0e], 0);
	assert_int_equal(client->peer.counts[0x15], 2);
	assert_int_equal(client->peer.pins, 0);
	assert_int_equal(client->peer.counts[0x16], 0);
}

/* The pins may also turn on the part's power. */
static void time_at_which_pins_were_turned_on_is_recorded(struct client *client)
{
	const uint64_t before_ns = clock_now_ns(&system_clock);

	attach(client);
	assert_in_range(client->programmer->powered_ns, before_ns, clock_now_ns(&system_clock));
}

static void leftovers_of_an_earlier_client_are_skipped(struct client *client)
{
	static const char *const leftovers[] = {"\x06\x06\x15", "\x15\x06", "old data"};

	for (size_t i = 0; i < COUNT(leftovers); i++) {
		client_restart(client);
		client->peer.leftover = leftovers[i];
		attach(client);
	}
}

/* Some of these look like the answer to SYNCNOP until the client asks for the version. */
static void late_leftovers_are_not_taken_for_answers(struct client *client)
{
	static const char *const leftovers[] = {"\x06", "\x15\x06", "\x15", "\x06\x01",
		"\x15\x06\x06\x06\x06", "\x15\x06\x06\x06\x15"};
	uint8_t rx[3];

	for (size_t i = 0; i < COUNT(leftovers); i++) {
		client_restart(client);
		client->peer.late = leftovers[i];
		attach(client);
		assert_int_equal(command(client, 1, rx, sizeof(rx)), 0);
		assert_int_equal(rx[0], 0x9f);
		client_detach(client);
		assert_true(client->peer.counts[0x10] > 1);
	}
}

/* NOPs complete a short request. A longer one needs another attempt to synchronise. */
static void request_that_an_earlier_client_cut_off_is_completed(struct client *client)
{
	static const unsigned int missing_bytes[] = {1, 2, 3, 4, 5, 6, 7, 25};

	for (size_t i = 0; i < COUNT(missing_bytes); i++) {
		client_restart(client);
		client->peer.swallow = missing_bytes[i];
		attach(client);
	}
}

/*
 * A peer that is refused, with the expected error and message. Fields that are not 0 replace those
 * of fake_peer_init().
 */
struct refusal {
	int error;
	const char *message;
	enum peer_fault fault;
	bool has_chip_select;
	bool has_no_bus;
	uint8_t bus;
	uint8_t withheld;
	uint16_t version;
	uint32_t write_bytes_max;
};

static void peer_is_refused(void **state)
{
	const struct refusal *row = *state;
	struct serprog_options options = row->fault == PEER_FINE ? patient : hasty;
	struct client client = {0};

	client_start(&client);
	options.has_chip_select = row->has_chip_select;
	client.peer.fault = row->fault;
	if (row->has_no_bus || row->bus != 0)
		client.peer.buses = row->bus;
	if (row->withheld != 0)
		fake_peer_withhold(&client.peer, row->withheld);
	if (row->version != 0)
		client.peer.version = row->version;
	client.peer.write_bytes_max = row->write_bytes_max;
	assert_int_equal(client_attach(&client, &options, BUS_SPI), row->error);
	assert_true(logged(&client.captured, row->message));
	client_detach(&client);
}

static void chip_select_is_set_if_requested(struct client *client)
{
	struct serprog_options options = patient;

	options.has_chip_select = true;
	options.chip_select = 2;
	assert_int_equal(client_attach(client, &options, BUS_SPI), 0);
	client_detach(client);
	assert_int_equal(client->peer.chip_select, 2);
}

static void limits_come_from_the_peer(struct client *client)
{
	client->peer.write_bytes_max = 100;
	client->peer.read_bytes_max = 200;
	attach(client);
	assert_int_equal(client->programmer->write_bytes_max, 100);
	assert_int_equal(client->programmer->read_bytes_max, 200);
}

static void zero_limit_means_no_limit(struct client *client)
{
	attach(client);
	assert_true(client->programmer->write_bytes_max >= 260);
	assert_true(client->programmer->read_bytes_max >= 4096);
}

static void peer_without_optional_commands_is_used(struct client *client)
{
	static const uint8_t optional[] = {0x03, 0x04, 0x05, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c,
		0x0d, 0x0f, 0x11, 0x12, 0x14, 0x15, 0x16};
	uint8_t rx[3];

	for (size_t i = 0; i < sizeof(optional); i++)
		fake_peer_withhold(&client->peer, optional[i]);
	attach(client);
	assert_int_equal(command(client, 1, rx, sizeof(rx)), 0);
	client_detach(client);
	for (size_t i = 0; i < sizeof(optional); i++)
		assert_int_equal(client->peer.counts[optional[i]], 0);
}

static void operation_that_fails_is_reported(struct client *client)
{
	static const struct {
		enum peer_fault fault;
		int error;
		const char *message;
	} rows[] = {
		{PEER_SPIOP_REFUSED, -EOPNOTSUPP, "the peer refused"},
		{PEER_SPIOP_GARBAGE, -EBADMSG, "no serprog answer"},
		{PEER_SPIOP_HANGS_UP, -ECONNRESET, "hung up"},
		{PEER_SPIOP_STOPS, -ETIMEDOUT, "stopped answering"},
	};
	uint8_t rx[100];

	for (size_t i = 0; i < COUNT(rows); i++) {
		const bool stops = rows[i].fault == PEER_SPIOP_STOPS;

		client_restart(client);
		client->peer.fault = rows[i].fault;
		assert_int_equal(client_attach(client, stops ? &hasty : &patient, BUS_SPI), 0);
		assert_int_equal(command(client, 1, rx, sizeof(rx)), rows[i].error);
		assert_true(logged(&client->captured, rows[i].message));
		/* After a failure, the client sends nothing more. */
		assert_int_equal(command(client, 1, rx, sizeof(rx)), -ECONNRESET);
		client_detach(client);
		assert_int_equal(client->peer.counts[0x13], 1);
	}
}

static void bad_parameter_or_unreachable_peer_is_named(void)
{
	static const struct {
		const char *spec, *message;
	} rows[] = {
		{"serprok:ip=h:1", "Unknown programmer \"serprok\""},
		{"serprog", "give one of"},
		{"serprog:ip=h:1,dev=/dev/x", "give one of"},
		{"serprog:ip", "needs a value"},
		{"serprog:ip=a:1,ip=b:1", "given twice"},
		{"serprog:spispee=1M", "\"spispeed\""},
		{"serprog:ip=127.0.0.1", "lacks a host or a port"},
		{"serprog:ip=127.0.0.1:1,spispeed=fast", "no frequency"},
		{"serprog:ip=127.0.0.1:1,spispeed=9999M", "no frequency"},
		{"serprog:ip=127.0.0.1:1,cs=256", "no chip select"},
		{"serprog:ip=127.0.0.1:1,cs=x", "no chip select"},
		{"serprog:dev=/dev/null:12345", "no baud rate"},
		{"serprog:dev=/nonexistent/tty", "dev=/nonexistent/tty"},
		{"serprog:ip=127.0.0.1:1", "cannot connect to ip=127.0.0.1:1"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct captured_log captured = {0};
		const struct log log = captured_log(&captured);
		struct programmer *programmer = NULL;

		assert_true(programmer_open(rows[i].spec, &system_clock, &log, &programmer) < 0);
		assert_null(programmer);
		assert_true(logged(&captured, rows[i].message));
	}
}

static void colon_in_a_device_name_does_not_begin_a_baud_rate(void)
{
	char path[] = "/tmp/usb-0:1:1.0-portXXXXXX";
	char spec[64];
	struct captured_log captured = {0};
	const struct log log = captured_log(&captured);
	struct programmer *programmer = NULL;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	snprintf(spec, sizeof(spec), "serprog:dev=%s", path);
	assert_true(programmer_open(spec, &system_clock, &log, &programmer) < 0);
	assert_false(logged(&captured, "no baud rate"));
	assert_false(logged(&captured, "cannot open"));
	close(fd);
	unlink(path);
}

#define REFUSED(name, ...) ROW(peer_is_refused, refusal, name, __VA_ARGS__)

static const struct CMUnitTest tests[] = {
	CASE_ON(client, operation_returns_what_the_peer_sends),
	CASE_ON(client, operation_without_answer_bytes_is_acknowledged),
	CASE_ON(client, held_operation_goes_out_with_the_next_one),
	CASE_ON(client, held_operation_goes_out_alone_if_the_serial_buffer_is_small),
	CASE_ON(client, held_operation_ends_before_one_with_answer_bytes_begins),
	CASE_ON(client, refused_held_operation_is_reported_and_nothing_more_is_sent),
	CASE_ON(client, session_turns_pins_on_and_off_and_sends_no_delay_or_chip_select),
	CASE_ON(client, time_at_which_pins_were_turned_on_is_recorded),
	CASE_ON(client, leftovers_of_an_earlier_client_are_skipped),
	CASE_ON(client, late_leftovers_are_not_taken_for_answers),
	CASE_ON(client, request_that_an_earlier_client_cut_off_is_completed),
	REFUSED(silent_peer_times_out, -ETIMEDOUT, "does not synchronise within 100 ms",
		.fault = PEER_SILENT),
	REFUSED(babbling_peer_times_out, -ETIMEDOUT, "does not synchronise", .fault = PEER_BABBLES),
	REFUSED(other_version_is_refused, -EPROTONOSUPPORT, "version 2", .version = 2),
	REFUSED(peer_without_spi_command_is_refused, -EOPNOTSUPP, "no bus that can be used",
		.withheld = 0x13),
	REFUSED(peer_without_memory_command_is_refused, -EOPNOTSUPP, "no bus that can be used",
		.bus = BUS_PARALLEL, .withheld = 0x0f),
	REFUSED(peer_without_a_bus_is_refused, -EOPNOTSUPP, "no bus that can be used",
		.has_no_bus = true),
	/* If the error were ignored, the client would write the wrong chip. */
	REFUSED(chip_select_that_cannot_be_set_is_an_error, -EOPNOTSUPP,
		"cs=", .has_chip_select = true, .withheld = 0x16),
	REFUSED(limit_too_small_for_flash_is_refused, -EOPNOTSUPP, "writes 4 bytes at a time",
		.write_bytes_max = 4),
	CASE_ON(client, chip_select_is_set_if_requested),
	CASE_ON(client, limits_come_from_the_peer),
	CASE_ON(client, zero_limit_means_no_limit),
	CASE_ON(client, peer_without_optional_commands_is_used),
	CASE_ON(client, operation_that_fails_is_reported),
	CASE(colon_in_a_device_name_does_not_begin_a_baud_rate),
	CASE(bad_parameter_or_unreachable_peer_is_named),
};

RUN_CASES(tests)
