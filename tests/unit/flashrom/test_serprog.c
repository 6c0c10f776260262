/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "captured_log.h"
#include "cmocka_headers.h"
#include "fake_peer.h"
#include "serprog.h"

/*
 * Time limits are short if a case waits for one to end, otherwise long enough for a busy machine.
 */
static const struct serprog_options patient = {
	.quiet_ms = 20, .sync_ms_max = 20000, .silence_ms_max = 20000};
static const struct serprog_options hasty = {
	.quiet_ms = 20, .sync_ms_max = 100, .silence_ms_max = 100};

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
}

static int attach(struct wire *wire, const struct serprog_options *options)
{
	int error;

	fake_peer_start(&wire->peer);
	error = serprog_attach(
		wire->peer.fd, "the peer", options, &system_clock, &wire->log, &wire->programmer);
	if (error != 0)
		assert_null(wire->programmer);
	return error == 0 ? wire->programmer->ops->select_bus(wire->programmer, BUS_SPI) : error;
}

static void detach(struct wire *wire)
{
	programmer_destroy(wire->programmer);
	fake_peer_stop(&wire->peer);
}

static int command(struct wire *wire, size_t tx_bytes, uint8_t *rx, size_t rx_bytes)
{
	const uint8_t tx[1024] = {0x9f};

	return wire->programmer->ops->spi_command(wire->programmer, tx, tx_bytes, rx, rx_bytes);
}

static void assert_attach_fails(
	struct wire *wire, const struct serprog_options *options, int error, const char *message)
{
	assert_int_equal(attach(wire, options), error);
	assert_true(logged(&wire->captured, message));
	detach(wire);
}

static void operation_returns_what_the_peer_sends(void **state)
{
	struct wire wire;
	uint8_t rx[300];

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire, &patient), 0);
	assert_int_equal(command(&wire, 5, rx, sizeof(rx)), 0);
	for (size_t i = 0; i < sizeof(rx); i++)
		assert_int_equal(rx[i], (uint8_t)(0x9f + i));
	detach(&wire);
	assert_int_equal(wire.peer.counts[0x13], 1);
}

static void operation_without_answer_bytes_is_acknowledged(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire, &patient), 0);
	assert_int_equal(command(&wire, 1, NULL, 0), 0);
	detach(&wire);
}

static int hold(struct wire *wire)
{
	const uint8_t write_enable = 0x06;

	return wire->programmer->ops->spi_hold(wire->programmer, &write_enable, 1);
}

#define HELD_BYTES (7 + 1)

static void held_operation_goes_out_with_the_next_one(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.slow = true;
	assert_int_equal(attach(&wire, &patient), 0);
	assert_int_equal(hold(&wire), 0);
	assert_int_equal(command(&wire, 260, NULL, 0), 0);
	detach(&wire);
	assert_int_equal(wire.peer.counts[0x13], 2);
	assert_int_equal(wire.peer.unread_bytes_max, HELD_BYTES + 7 + 260);
}

static void held_operation_goes_out_alone_where_the_serial_buffer_is_small(void **state)
{
	static const uint16_t too_small_bytes[] = {1, 7 + 260, HELD_BYTES + 7 + 260 - 1};
	struct wire wire;

	(void)state;
	for (size_t i = 0; i < sizeof(too_small_bytes) / sizeof(too_small_bytes[0]); i++) {
		wire_init(&wire);
		wire.peer.slow = true;
		wire.peer.serbuf_bytes = too_small_bytes[i];
		assert_int_equal(attach(&wire, &patient), 0);
		assert_int_equal(hold(&wire), 0);
		assert_int_equal(command(&wire, 260, NULL, 0), 0);
		detach(&wire);
		assert_int_equal(wire.peer.counts[0x13], 2);
		assert_int_equal(wire.peer.unread_bytes_max, 7 + 260);
	}
}

static void held_operation_is_over_before_one_that_answers(void **state)
{
	struct wire wire;
	uint8_t rx[3];

	(void)state;
	wire_init(&wire);
	wire.peer.slow = true;
	assert_int_equal(attach(&wire, &patient), 0);
	assert_int_equal(hold(&wire), 0);
	assert_int_equal(command(&wire, 1, rx, sizeof(rx)), 0);
	detach(&wire);
	assert_int_equal(rx[2], 0x9f + 2);
	assert_int_equal(wire.peer.counts[0x13], 2);
	assert_int_equal(wire.peer.unread_bytes_max, HELD_BYTES);
}

static void refused_held_operation_is_reported_and_nothing_more_is_sent(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.fault = PEER_SPIOP_REFUSED;
	assert_int_equal(attach(&wire, &patient), 0);
	assert_int_equal(hold(&wire), 0);
	assert_int_equal(command(&wire, 5, NULL, 0), -EOPNOTSUPP);
	assert_true(logged(&wire.captured, "the peer refused (SPI operation)"));
	assert_int_equal(hold(&wire), -ECONNRESET);
	detach(&wire);
	assert_int_equal(wire.peer.counts[0x15], 1);
}

static void delays_are_not_handed_to_a_peer_that_offers_them(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire, &patient), 0);
	detach(&wire);
	assert_int_equal(wire.peer.counts[0x0e], 0);
}

static void pins_are_let_go_in_the_end(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire, &patient), 0);
	detach(&wire);
	assert_int_equal(wire.peer.counts[0x15], 2);
	assert_int_equal(wire.peer.pins, 0);
}

/* The pins may also turn on the part's power. */
static void moment_at_which_pins_were_turned_on_is_kept(void **state)
{
	const uint64_t before_ns = clock_now_ns(&system_clock);
	struct wire wire;

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire, &patient), 0);
	assert_in_range(wire.programmer->powered_ns, before_ns, clock_now_ns(&system_clock));
	detach(&wire);
}

static void leftovers_of_an_earlier_client_are_skipped(void **state)
{
	static const char *const leftovers[] = {"\x06\x06\x15", "\x15\x06", "old data"};
	struct wire wire;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		wire_init(&wire);
		wire.peer.leftover = leftovers[i];
		assert_int_equal(attach(&wire, &patient), 0);
		detach(&wire);
	}
}

/* Some of these look like the answer to SYNCNOP until the client asks for the version. */
static void late_leftovers_do_not_pass_for_answers(void **state)
{
	static const char *const leftovers[] = {"\x06", "\x15\x06", "\x15", "\x06\x01",
		"\x15\x06\x06\x06\x06", "\x15\x06\x06\x06\x15"};
	struct wire wire;
	uint8_t rx[3];

	(void)state;
	for (size_t i = 0; i < sizeof(leftovers) / sizeof(leftovers[0]); i++) {
		wire_init(&wire);
		wire.peer.late = leftovers[i];
		assert_int_equal(attach(&wire, &patient), 0);
		assert_int_equal(command(&wire, 1, rx, sizeof(rx)), 0);
		assert_int_equal(rx[0], 0x9f);
		detach(&wire);
		assert_true(wire.peer.counts[0x10] > 1);
	}
}

static void request_cut_off_half_way_is_ended_by_nops(void **state)
{
	struct wire wire;

	(void)state;
	for (unsigned int bytes = 1; bytes <= 7; bytes++) {
		wire_init(&wire);
		wire.peer.swallow = bytes;
		assert_int_equal(attach(&wire, &patient), 0);
		detach(&wire);
	}
}

static void longer_cut_off_request_is_ended_by_trying_again(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.swallow = 25;
	assert_int_equal(attach(&wire, &patient), 0);
	detach(&wire);
}

static void silent_peer_is_given_up(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.fault = PEER_SILENT;
	assert_attach_fails(&wire, &hasty, -ETIMEDOUT, "does not synchronise within 100 ms");
}

static void babbling_peer_is_given_up(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.fault = PEER_BABBLES;
	assert_attach_fails(&wire, &hasty, -ETIMEDOUT, "does not synchronise");
}

static void other_version_is_refused(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.version = 2;
	assert_attach_fails(&wire, &patient, -EPROTONOSUPPORT, "version 2");
}

static void peer_without_commands_for_its_bus_is_refused(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	fake_peer_withhold(&wire.peer, 0x13);
	assert_attach_fails(&wire, &patient, -EOPNOTSUPP, "no bus that can be used");
	wire_init(&wire);
	wire.peer.buses = BUS_PARALLEL;
	fake_peer_withhold(&wire.peer, 0x0f);
	assert_attach_fails(&wire, &patient, -EOPNOTSUPP, "no bus that can be used");
	wire_init(&wire);
	wire.peer.buses = 0;
	assert_attach_fails(&wire, &patient, -EOPNOTSUPP, "no bus that can be used");
}

static void chip_select_is_set_where_asked_for(void **state)
{
	struct serprog_options options = patient;
	struct wire wire;

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire, &options), 0);
	detach(&wire);
	assert_int_equal(wire.peer.counts[0x16], 0);
	wire_init(&wire);
	options.has_chip_select = true;
	options.chip_select = 2;
	assert_int_equal(attach(&wire, &options), 0);
	detach(&wire);
	assert_int_equal(wire.peer.chip_select, 2);
}

/* An ignored error would write the wrong chip. */
static void chip_select_that_cannot_be_set_is_an_error(void **state)
{
	struct serprog_options options = patient;
	struct wire wire;

	(void)state;
	wire_init(&wire);
	options.has_chip_select = true;
	fake_peer_withhold(&wire.peer, 0x16);
	assert_attach_fails(&wire, &options, -EOPNOTSUPP, "cs=");
}

static void limits_come_from_the_peer(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.write_bytes_max = 100;
	wire.peer.read_bytes_max = 200;
	assert_int_equal(attach(&wire, &patient), 0);
	assert_int_equal(wire.programmer->write_bytes_max, 100);
	assert_int_equal(wire.programmer->read_bytes_max, 200);
	detach(&wire);
}

static void zero_limit_means_no_limit(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	assert_int_equal(attach(&wire, &patient), 0);
	assert_true(wire.programmer->write_bytes_max >= 260);
	assert_true(wire.programmer->read_bytes_max >= 4096);
	detach(&wire);
}

static void limit_too_small_for_flash_is_refused(void **state)
{
	struct wire wire;

	(void)state;
	wire_init(&wire);
	wire.peer.write_bytes_max = 4;
	assert_attach_fails(&wire, &patient, -EOPNOTSUPP, "writes 4 bytes at a time");
}

static void peer_with_bare_minimum_is_used(void **state)
{
	static const uint8_t optional[] = {0x03, 0x04, 0x05, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c,
		0x0d, 0x0f, 0x11, 0x12, 0x14, 0x15, 0x16};
	struct wire wire;
	uint8_t rx[3];

	(void)state;
	wire_init(&wire);
	for (size_t i = 0; i < sizeof(optional); i++)
		fake_peer_withhold(&wire.peer, optional[i]);
	assert_int_equal(attach(&wire, &patient), 0);
	assert_int_equal(command(&wire, 1, rx, sizeof(rx)), 0);
	detach(&wire);
	for (size_t i = 0; i < sizeof(optional); i++)
		assert_int_equal(wire.peer.counts[optional[i]], 0);
}

static void assert_operation_fails(enum peer_fault fault, int error, const char *message)
{
	struct wire wire;
	uint8_t rx[100];

	wire_init(&wire);
	wire.peer.fault = fault;
	assert_int_equal(attach(&wire, fault == PEER_SPIOP_STOPS ? &hasty : &patient), 0);
	assert_int_equal(command(&wire, 1, rx, sizeof(rx)), error);
	assert_true(logged(&wire.captured, message));
	/* After a lost answer, the client sends nothing more. */
	assert_int_equal(command(&wire, 1, rx, sizeof(rx)), -ECONNRESET);
	detach(&wire);
	assert_int_equal(wire.peer.counts[0x13], 1);
}

static void refused_operation_is_reported(void **state)
{
	(void)state;
	assert_operation_fails(PEER_SPIOP_REFUSED, -EOPNOTSUPP, "the peer refused");
}

static void garbage_instead_of_an_answer_is_reported(void **state)
{
	(void)state;
	assert_operation_fails(PEER_SPIOP_GARBAGE, -EBADMSG, "no serprog answer");
}

static void peer_that_hangs_up_is_reported(void **state)
{
	(void)state;
	assert_operation_fails(PEER_SPIOP_HANGS_UP, -ECONNRESET, "hung up");
}

static void peer_that_stops_half_way_is_reported(void **state)
{
	(void)state;
	assert_operation_fails(PEER_SPIOP_STOPS, -ETIMEDOUT, "stopped answering");
}

static void assert_open_fails(const char *spec, const char *message)
{
	struct captured_log captured = {0};
	const struct log log = captured_log(&captured);
	struct programmer *programmer = NULL;

	assert_true(programmer_open(spec, &system_clock, &log, &programmer) < 0);
	assert_null(programmer);
	assert_true(logged(&captured, message));
}

static void bad_parameters_are_refused_by_name(void **state)
{
	(void)state;
	assert_open_fails("serprok:ip=h:1", "Unknown programmer \"serprok\"");
	assert_open_fails("serprog", "give one of");
	assert_open_fails("serprog:ip=h:1,dev=/dev/x", "give one of");
	assert_open_fails("serprog:ip", "needs a value");
	assert_open_fails("serprog:ip=a:1,ip=b:1", "given twice");
	assert_open_fails("serprog:spispee=1M", "\"spispeed\"");
	assert_open_fails("serprog:ip=127.0.0.1", "lacks a host or a port");
	assert_open_fails("serprog:ip=127.0.0.1:1,spispeed=fast", "no frequency");
	assert_open_fails("serprog:ip=127.0.0.1:1,spispeed=9999M", "no frequency");
	assert_open_fails("serprog:ip=127.0.0.1:1,cs=256", "no chip select");
	assert_open_fails("serprog:ip=127.0.0.1:1,cs=x", "no chip select");
	assert_open_fails("serprog:dev=/dev/null:12345", "no baud rate");
	assert_open_fails("serprog:dev=/nonexistent/tty", "dev=/nonexistent/tty");
}

static void unreachable_peer_is_named(void **state)
{
	(void)state;
	assert_open_fails("serprog:ip=127.0.0.1:1", "cannot connect to ip=127.0.0.1:1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operation_returns_what_the_peer_sends),
		cmocka_unit_test(operation_without_answer_bytes_is_acknowledged),
		cmocka_unit_test(held_operation_goes_out_with_the_next_one),
		cmocka_unit_test(held_operation_goes_out_alone_where_the_serial_buffer_is_small),
		cmocka_unit_test(held_operation_is_over_before_one_that_answers),
		cmocka_unit_test(refused_held_operation_is_reported_and_nothing_more_is_sent),
		cmocka_unit_test(delays_are_not_handed_to_a_peer_that_offers_them),
		cmocka_unit_test(pins_are_let_go_in_the_end),
		cmocka_unit_test(moment_at_which_pins_were_turned_on_is_kept),
		cmocka_unit_test(leftovers_of_an_earlier_client_are_skipped),
		cmocka_unit_test(late_leftovers_do_not_pass_for_answers),
		cmocka_unit_test(request_cut_off_half_way_is_ended_by_nops),
		cmocka_unit_test(longer_cut_off_request_is_ended_by_trying_again),
		cmocka_unit_test(silent_peer_is_given_up),
		cmocka_unit_test(babbling_peer_is_given_up),
		cmocka_unit_test(other_version_is_refused),
		cmocka_unit_test(peer_without_commands_for_its_bus_is_refused),
		cmocka_unit_test(chip_select_is_set_where_asked_for),
		cmocka_unit_test(chip_select_that_cannot_be_set_is_an_error),
		cmocka_unit_test(limits_come_from_the_peer),
		cmocka_unit_test(zero_limit_means_no_limit),
		cmocka_unit_test(limit_too_small_for_flash_is_refused),
		cmocka_unit_test(peer_with_bare_minimum_is_used),
		cmocka_unit_test(refused_operation_is_reported),
		cmocka_unit_test(garbage_instead_of_an_answer_is_reported),
		cmocka_unit_test(peer_that_hangs_up_is_reported),
		cmocka_unit_test(peer_that_stops_half_way_is_reported),
		cmocka_unit_test(bad_parameters_are_refused_by_name),
		cmocka_unit_test(unreachable_peer_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
