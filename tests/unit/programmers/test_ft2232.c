/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus_fixture.h"

#include <errno.h>
#include <string.h>

#include "programmers/ft2232.h"

#define BYTE_NS UINT64_C(266) /* at 30 MHz */
#define MS UINT64_C(1000000)
#define FOREVER (UINT64_MAX - 1)
#define STATUS_BYTES 2
#define DATA_BYTES (FT2232_PACKET_BYTES - STATUS_BYTES)
#define SELECT 0x80, 0x00, 0x0B
#define DESELECT 0x80, 0x08, 0x0B
#define TO_DEVICE 0x40
#define FROM_DEVICE 0xC0

static struct ft2232 device;

static int ask(struct fixture *fixture, struct front_request request, uint8_t *bytes)
{
	return ft2232_front.usb->control(&device, &fixture->bus, fixture->now_ns, &request, bytes);
}

static int tell(struct fixture *fixture, uint8_t number, uint16_t value)
{
	return ask(fixture,
		(struct front_request){
			.type = TO_DEVICE, .number = number, .value = value, .channel = 1},
		NULL);
}

static int write_bytes(struct fixture *fixture, const uint8_t *bytes, size_t len)
{
	return ft2232_front.usb->write(&device, &fixture->bus, fixture->now_ns, bytes, len);
}

#define SEND(fixture_, ...)                                                                        \
	do {                                                                                       \
		const uint8_t bytes_[] = {__VA_ARGS__};                                            \
		assert_int_equal(write_bytes(fixture_, bytes_, sizeof(bytes_)), 0);                \
	} while (0)

static size_t receive_within(struct fixture *fixture, uint64_t now_ns, uint8_t *bytes, size_t room)
{
	return ft2232_front.usb->read(&device, &fixture->bus, now_ns, bytes, room);
}

static size_t receive(struct fixture *fixture, uint64_t now_ns, uint8_t *bytes)
{
	return receive_within(fixture, now_ns, bytes, FT2232_PACKET_BYTES);
}

/* As flashrom opens it: reset, latency, mode, clock, pins. */
static int w25q128jv(void **state)
{
	int ret = put_on_bus(state, "W25Q128JV", RECORDS_MAX);
	struct fixture *fixture = *state;

	ft2232_front.usb->reset(&device);
	assert_int_equal(tell(fixture, 0, 0), 0);
	assert_int_equal(tell(fixture, 9, 2), 0);
	assert_int_equal(tell(fixture, 11, 0x0200), 0);
	SEND(fixture, 0x8A, 0x86, 0x00, 0x00, 0x85, DESELECT);
	fixture->now_ns += 10 * MS;
	return ret;
}

static void id_is_read_in_the_clocks_of_its_bytes(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[FT2232_PACKET_BYTES];

	SEND(fixture, SELECT, 0x11, 0x00, 0x00, 0x9F, 0x20, 0x02, 0x00, DESELECT);
	assert_int_equal(receive(fixture, fixture->now_ns + 4 * BYTE_NS, reply), STATUS_BYTES + 3);
	assert_int_equal(reply[2], 0xEF);
	assert_int_equal(reply[3], 0x40);
	assert_int_equal(reply[4], 0x18);
	assert_int_equal(record_count(fixture), 1);
	assert_string_equal(record(fixture, 0)->chip.name, "RDID");
	assert_int_equal(record(fixture, 0)->read_len, 3);
	assert_int_equal(record(fixture, 0)->read_ns, fixture->now_ns);
	assert_int_equal(record(fixture, 0)->reply_ns, fixture->now_ns + 4 * BYTE_NS);
}

static void command_that_comes_in_pieces_is_the_same(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[FT2232_PACKET_BYTES];

	SEND(fixture, SELECT, 0x11);
	SEND(fixture, 0x00, 0x00);
	SEND(fixture, 0x9F, 0x20, 0x00);
	SEND(fixture, 0x00, DESELECT);
	assert_int_equal(receive(fixture, FOREVER, reply), STATUS_BYTES + 1);
	assert_int_equal(reply[2], 0xEF);
}

static void short_packet_waits_for_the_latency_timer(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[FT2232_PACKET_BYTES];
	uint64_t sent_ns = fixture->now_ns;

	assert_int_equal(receive(fixture, sent_ns, reply), STATUS_BYTES);
	SEND(fixture, SELECT, 0x31, 0x01, 0x00, 0x05, 0x00, DESELECT);
	assert_int_equal(ft2232_front.usb->ready_ns(&device), sent_ns + 2 * MS);
	assert_int_equal(receive(fixture, sent_ns + 2 * MS - 1, reply), 0);
	assert_int_equal(receive(fixture, sent_ns + 2 * MS, reply), STATUS_BYTES + 2);
	assert_int_equal(receive(fixture, sent_ns + 4 * MS - 1, reply), 0);
	assert_int_equal(receive(fixture, sent_ns + 4 * MS, reply), STATUS_BYTES);
}

static void short_packet_is_sent_at_once_when_asked_for(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[FT2232_PACKET_BYTES];
	uint64_t sent_ns = fixture->now_ns;

	assert_int_equal(receive(fixture, sent_ns, reply), STATUS_BYTES);
	SEND(fixture, 0x81, 0x87);
	assert_int_equal(receive(fixture, sent_ns, reply), STATUS_BYTES + 1);
	assert_int_equal(reply[2], 0xFC);
	assert_int_equal(receive(fixture, sent_ns, reply), 0);
}

static void full_packets_follow_each_other(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[3 * FT2232_PACKET_BYTES];
	const uint64_t last_ns = fixture->now_ns + (2 * DATA_BYTES + 1) * BYTE_NS;

	SEND(fixture, SELECT, 0x20, 0xFC, 0x03, DESELECT); /* 2 * 510 + 1 bytes */
	assert_int_equal(
		receive_within(fixture, last_ns, reply, sizeof(reply)), 2 * FT2232_PACKET_BYTES);
	assert_int_equal(
		receive_within(fixture, last_ns + 2 * MS, reply, sizeof(reply)), STATUS_BYTES + 1);
}

static void processor_waits_while_the_buffer_for_the_host_is_full(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[FT2232_PACKET_BYTES];
	size_t total = 0;
	size_t len;

	SEND(fixture, SELECT, 0x11, 0x03, 0x00, 0x03, 0x00, 0x00, 0x00, 0x20, 0xFF, 0xFF, DESELECT);
	assert_int_equal(write_bytes(fixture, reply, 1), -EAGAIN);
	do {
		fixture->now_ns += 20 * MS;
		len = receive(fixture, fixture->now_ns, reply);
		total += len - STATUS_BYTES;
	} while (len > STATUS_BYTES);
	assert_int_equal(total, 65536);
	assert_int_equal(record_count(fixture), 1);
	assert_int_equal(record(fixture, 0)->read_len, 65536);
	assert_int_equal(write_bytes(fixture, reply, 1), 0);
	assert_true(bus_is_clean(&fixture->bus));
}

static void divisor_and_prescaler_make_the_clock_slow(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t before_ns = fixture->now_ns;

	SEND(fixture, 0x8B, 0x86, 0x01, 0x00, 0x10, 0x00, 0x00, 0x00);
	assert_int_equal(device.free_ns - before_ns, 8 * 1000 / 3); /* 3 MHz */
}

static void lowest_bit_can_be_the_first(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[FT2232_PACKET_BYTES];

	SEND(fixture, SELECT, 0x39, 0x01, 0x00, 0xF9, 0x00, DESELECT);
	assert_int_equal(receive(fixture, FOREVER, reply), STATUS_BYTES + 2);
	assert_int_equal(reply[3], 0xF7);
}

static void loopback_answers_with_what_was_sent(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[FT2232_PACKET_BYTES];

	SEND(fixture, 0x84, 0x31, 0x00, 0x00, 0x5A);
	assert_int_equal(receive(fixture, FOREVER, reply), STATUS_BYTES + 1);
	assert_int_equal(reply[2], 0x5A);
}

static void unknown_command_is_named_in_the_answer(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[FT2232_PACKET_BYTES];

	SEND(fixture, 0xAA);
	assert_int_equal(receive(fixture, FOREVER, reply), STATUS_BYTES + 2);
	assert_int_equal(reply[2], 0xFA);
	assert_int_equal(reply[3], 0xAA);
}

static void bytes_in_another_mode_are_no_commands(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[FT2232_PACKET_BYTES];

	SEND(fixture, SELECT);
	assert_int_equal(tell(fixture, 11, 0), 0); /* chip select rises */
	SEND(fixture, SELECT, 0x31, 0x00, 0x00, 0x9F);
	assert_int_equal(receive(fixture, FOREVER, reply), STATUS_BYTES);
	assert_int_equal(record_count(fixture), 0);
}

static void reset_forgets_commands_and_replies(void **state)
{
	struct fixture *fixture = *state;
	uint8_t reply[FT2232_PACKET_BYTES];

	SEND(fixture, 0x81, 0x31, 0x05);
	assert_int_equal(tell(fixture, 0, 0), 0);
	SEND(fixture, 0x87);
	assert_int_equal(receive(fixture, FOREVER, reply), STATUS_BYTES);
}

static void requests_for_the_other_channel_change_nothing(void **state)
{
	struct fixture *fixture = *state;
	const struct front_request off = {
		.type = TO_DEVICE, .number = 11, .value = 0, .channel = 2};

	assert_int_equal(ask(fixture, off, NULL), 0);
	assert_true(device.is_on);
}

static void latency_is_answered_and_unknown_requests_are_refused(void **state)
{
	struct fixture *fixture = *state;
	struct front_request request = {.type = FROM_DEVICE, .number = 10, .len = 1};
	uint8_t latency_ms = 0;

	assert_int_equal(ask(fixture, request, &latency_ms), 1);
	assert_int_equal(latency_ms, 2);
	request.number = 0x77;
	assert_int_equal(ask(fixture, request, &latency_ms), -EOPNOTSUPP);
	assert_int_equal(tell(fixture, 0x91, 0), -EOPNOTSUPP);
}

static void usb_reset_lets_chip_select_rise_and_time_go_on(void **state)
{
	struct fixture *fixture = *state;

	SEND(fixture, SELECT, 0x11, 0x00, 0x00, 0x9F);
	ft2232_front.usb->reset(&device);
	assert_int_equal(tell(fixture, 11, 0x0200), 0);
	assert_int_equal(record_count(fixture), 1);
	assert_true(bus_is_clean(&fixture->bus));
}

static void machine_without_a_chip_answers_with_ones(void **state)
{
	static const uint8_t command[] = {0x31, 0x00, 0x00, 0x9F};
	uint8_t reply[FT2232_PACKET_BYTES];

	(void)state;
	assert_int_equal(ft2232_front.usb->write(&device, NULL, 1, command, sizeof(command)), 0);
	assert_int_equal(ft2232_front.usb->read(&device, NULL, FOREVER, reply, sizeof(reply)), 3);
	assert_int_equal(reply[2], 0xFF);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, w25q128jv, take_off_bus)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(id_is_read_in_the_clocks_of_its_bytes),
		TEST(command_that_comes_in_pieces_is_the_same),
		TEST(short_packet_waits_for_the_latency_timer),
		TEST(short_packet_is_sent_at_once_when_asked_for),
		TEST(full_packets_follow_each_other),
		TEST(processor_waits_while_the_buffer_for_the_host_is_full),
		TEST(divisor_and_prescaler_make_the_clock_slow),
		TEST(lowest_bit_can_be_the_first),
		TEST(loopback_answers_with_what_was_sent),
		TEST(unknown_command_is_named_in_the_answer),
		TEST(bytes_in_another_mode_are_no_commands),
		TEST(reset_forgets_commands_and_replies),
		TEST(requests_for_the_other_channel_change_nothing),
		TEST(latency_is_answered_and_unknown_requests_are_refused),
		TEST(usb_reset_lets_chip_select_rise_and_time_go_on),
		TEST(machine_without_a_chip_answers_with_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
