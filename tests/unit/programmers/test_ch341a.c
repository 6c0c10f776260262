/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus_fixture.h"

#include <errno.h>
#include <string.h>

#include "programmers/ch341a.h"

#define INSTRUCTION_NS UINT64_C(750)
#define BYTE_NS UINT64_C(5714)
#define HIGH 0xB7 /* all outputs but the clock, as flashrom sets them */
#define LOW 0xB6
#define ALL_OUTPUTS 0x7F
#define END 0x20
#define DELAY_US(us_) (0xC0 | (us_))

static struct ch341a device;

static int w25q128jv(void **state)
{
	ch341a_front.usb->reset(&device);
	return put_on_bus(state, "W25Q128JV", RECORDS_MAX);
}

static void send(struct fixture *fixture, const uint8_t *bytes, size_t len)
{
	assert_int_equal(
		ch341a_front.usb->write(&device, &fixture->bus, fixture->now_ns, bytes, len), 0);
}

/* Instructions of a pin stream, and its end. */
static void pins(struct fixture *fixture, const uint8_t *instructions, size_t len)
{
	uint8_t packet[CH341A_PACKET_BYTES] = {0xAB};

	memcpy(packet + 1, instructions, len);
	packet[1 + len] = END;
	send(fixture, packet, 2 + len);
}

static void turn_on(struct fixture *fixture)
{
	const uint8_t instructions[] = {HIGH, ALL_OUTPUTS};

	pins(fixture, instructions, sizeof(instructions));
}

static void pluck(struct fixture *fixture)
{
	const uint8_t instructions[] = {HIGH, HIGH, HIGH, LOW};

	pins(fixture, instructions, sizeof(instructions));
}

static void spi(struct fixture *fixture, const uint8_t *bytes, size_t len)
{
	uint8_t packet[CH341A_PACKET_BYTES] = {0xA8};

	for (size_t i = 0; i < len; i++)
		packet[1 + i] = front_reversed(bytes[i]);
	send(fixture, packet, 1 + len);
}

static size_t receive(uint64_t now_ns, uint8_t *bytes)
{
	size_t len = ch341a_front.usb->read(&device, NULL, now_ns, bytes, CH341A_PACKET_BYTES);

	for (size_t i = 0; i < len; i++)
		bytes[i] = front_reversed(bytes[i]);
	return len;
}

static void id_is_read_bit_by_bit_reversed(void **state)
{
	static const uint8_t command[] = {0x9F, 0xFF, 0xFF, 0xFF};
	struct fixture *fixture = *state;
	uint8_t reply[CH341A_PACKET_BYTES];

	turn_on(fixture);
	pluck(fixture);
	spi(fixture, command, sizeof(command));
	assert_int_equal(receive(UINT64_MAX - 1, reply), sizeof(command));
	assert_int_equal(reply[1], 0xEF);
	assert_int_equal(reply[2], 0x40);
	assert_int_equal(reply[3], 0x18);
	pluck(fixture);
	assert_int_equal(record_count(fixture), 1);
	assert_int_equal(record(fixture, 0)->kind, EVENT_SPI);
	assert_string_equal(record(fixture, 0)->chip.name, "RDID");
	assert_int_equal(record(fixture, 0)->write_len, 1);
	assert_int_equal(record(fixture, 0)->read_len, 3);
}

static void reply_is_there_when_its_last_byte_has_passed(void **state)
{
	static const uint8_t command[] = {0x05, 0xFF};
	struct fixture *fixture = *state;
	uint8_t reply[CH341A_PACKET_BYTES];
	uint64_t ready_ns = fixture->now_ns + 6 * INSTRUCTION_NS + 2 * BYTE_NS;

	turn_on(fixture);
	pluck(fixture);
	spi(fixture, command, sizeof(command));
	assert_int_equal(ch341a_front.usb->ready_ns(&device), ready_ns);
	assert_int_equal(receive(ready_ns - 1, reply), 0);
	assert_int_equal(receive(ready_ns, reply), 2);
	assert_int_equal(ch341a_front.usb->ready_ns(&device), UINT64_MAX);
}

/* flashrom's driver puts 20 us of a wait into 26 more instructions, of 750 ns each. */
static void delays_of_the_stream_pass_while_chip_select_is_high(void **state)
{
	static const uint8_t reset_enable[] = {0x66};
	static const uint8_t reset[] = {0x99};
	static const uint8_t id[] = {0x9F, 0xFF};
	struct fixture *fixture = *state;
	uint8_t instructions[CH341A_PACKET_BYTES - 2];

	turn_on(fixture);
	pluck(fixture);
	spi(fixture, reset_enable, sizeof(reset_enable));
	pluck(fixture);
	spi(fixture, reset, sizeof(reset));
	fixture->now_ns += 1000000; /* chip select is still low */
	memset(instructions, HIGH, 27);
	instructions[27] = LOW;
	pins(fixture, instructions, 28);
	spi(fixture, id, sizeof(id));
	pluck(fixture);
	assert_int_equal(record_count(fixture), 3);
	assert_int_equal(record(fixture, 1)->reply_ns, fixture->now_ns + INSTRUCTION_NS);
	assert_int_equal(record(fixture, 2)->chip.rule, CHIP_RULE_RESET);
	assert_int_equal(record(fixture, 2)->chip.margin_ns, 27 * (int64_t)INSTRUCTION_NS - 30000);
}

static void delay_instruction_takes_its_microseconds(void **state)
{
	const uint8_t instructions[] = {HIGH, DELAY_US(30), LOW};
	struct fixture *fixture = *state;
	uint64_t fell_ns;

	turn_on(fixture);
	fell_ns = device.free_ns + 2 * INSTRUCTION_NS + 30000;
	pins(fixture, instructions, sizeof(instructions));
	assert_int_equal(device.free_ns, fell_ns);
}

static void chip_select_is_high_while_its_pin_is_no_output(void **state)
{
	static const uint8_t command[] = {0x9F, 0xFF};
	struct fixture *fixture = *state;
	uint8_t reply[CH341A_PACKET_BYTES];

	pluck(fixture);
	spi(fixture, command, sizeof(command));
	assert_int_equal(receive(UINT64_MAX - 1, reply), 2);
	assert_int_equal(reply[1], 0xFF);
	assert_int_equal(record_count(fixture), 0);
}

static void transfer_of_many_packets_is_answered_packet_by_packet(void **state)
{
	struct fixture *fixture = *state;
	uint8_t transfer[3 * CH341A_PACKET_BYTES - 5];
	uint8_t reply[CH341A_PACKET_BYTES];

	memset(transfer, 0xA8, sizeof(transfer));
	send(fixture, transfer, sizeof(transfer));
	assert_int_equal(receive(UINT64_MAX - 1, reply), CH341A_PACKET_BYTES - 1);
	assert_int_equal(receive(UINT64_MAX - 1, reply), CH341A_PACKET_BYTES - 1);
	assert_int_equal(receive(UINT64_MAX - 1, reply), CH341A_PACKET_BYTES - 6);
}

static void transfer_waits_until_there_is_room_for_its_replies(void **state)
{
	struct fixture *fixture = *state;
	uint8_t packet[2] = {0xA8, 0};
	uint8_t reply[CH341A_PACKET_BYTES];

	for (size_t i = 0; i < CH341A_REPLIES_MAX; i++)
		send(fixture, packet, sizeof(packet));
	assert_int_equal(ch341a_front.usb->write(
				 &device, &fixture->bus, fixture->now_ns, packet, sizeof(packet)),
		-EAGAIN);
	assert_int_equal(receive(UINT64_MAX - 1, reply), 1);
	send(fixture, packet, sizeof(packet));
}

static void usb_reset_lets_chip_select_rise_and_time_go_on(void **state)
{
	static const uint8_t command[] = {0x9F, 0xFF};
	struct fixture *fixture = *state;

	turn_on(fixture);
	pluck(fixture);
	spi(fixture, command, sizeof(command));
	ch341a_front.usb->reset(&device);
	spi(fixture, command, sizeof(command));
	assert_int_equal(record_count(fixture), 1);
	assert_true(bus_is_clean(&fixture->bus));
}

static void machine_without_a_chip_answers_with_ones(void **state)
{
	static const uint8_t packet[] = {0xA8, 0x12};
	uint8_t reply[CH341A_PACKET_BYTES];

	(void)state;
	assert_int_equal(ch341a_front.usb->write(&device, NULL, 1, packet, sizeof(packet)), 0);
	assert_int_equal(receive(UINT64_MAX - 1, reply), 1);
	assert_int_equal(reply[0], 0xFF);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, w25q128jv, take_off_bus)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(id_is_read_bit_by_bit_reversed),
		TEST(reply_is_there_when_its_last_byte_has_passed),
		TEST(delays_of_the_stream_pass_while_chip_select_is_high),
		TEST(delay_instruction_takes_its_microseconds),
		TEST(chip_select_is_high_while_its_pin_is_no_output),
		TEST(transfer_of_many_packets_is_answered_packet_by_packet),
		TEST(transfer_waits_until_there_is_room_for_its_replies),
		TEST(usb_reset_lets_chip_select_rise_and_time_go_on),
		TEST(machine_without_a_chip_answers_with_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
