/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A WCH CH341A, a USB adapter with a serial bus: streams of commands come in packets of 32 bytes,
 * and each packet of a SPI stream is answered by one with the bytes that the part drove.
 *
 * A pin stream sets the pins, among them chip select. Its instructions and delays take time. USB
 * packets take none: the adapter runs the next instruction at once.
 *
 * Sources: CH341 datasheet (part 2, parallel and synchronous serial ports); spi-ch341-usb, README,
 * "Limitations of the SPI interface" (1.4 MHz, measured); flashrom ch341a_spi.c, pluck_cs() (three
 * instructions in 2.25 us, measured).
 */
#include "front.h"
#include "shared/units.h"

#include <errno.h>
#include <string.h>

#define SPI_STREAM 0xA8
#define PIN_STREAM 0xAB

/*
 * Instructions of a pin stream: the highest two bits are the instruction (three bits for END), the
 * others are its value.
 */
#define KIND_MASK 0xC0
#define VALUE_MASK 0x3F
#define PINS_DIRECTION 0x40
#define PINS_OUT 0x80
#define DELAY_US 0xC0
#define END 0x20

#define CHIP_SELECT 0x01 /* D0 */
#define PACKET_BYTES 32
#define REPLIES_MAX 1024

#define INSTRUCTION_NS UINT64_C(750)
#define BYTE_NS UINT64_C(5714) /* 8 clocks at 1.4 MHz */

/* A packet for the host, and the time from which it can be read. */
struct reply {
	uint64_t ready_ns;
	size_t len;
	uint8_t bytes[PACKET_BYTES];
};

struct ch341a {
	uint64_t free_ns; /* the end of all commands so far */
	uint8_t levels;   /* the levels of pins D0 to D5, where they are outputs */
	uint8_t outputs;
	size_t reply_first;
	size_t reply_count;
	struct reply replies[REPLIES_MAX];
};

static void reset(void *state)
{
	memset(state, 0, sizeof(struct ch341a));
}

/* A pin that is not an output is pulled up. */
static void set_pins(struct ch341a *self, struct bus *bus)
{
	bool is_low = self->outputs & CHIP_SELECT && !(self->levels & CHIP_SELECT);

	if (bus)
		(is_low ? bus_select : bus_deselect)(bus, self->free_ns);
}

static void do_pins(struct ch341a *self, struct bus *bus, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint8_t value = bytes[i] & VALUE_MASK;

		switch (bytes[i] & KIND_MASK) {
		case PINS_OUT:
			self->levels = value;
			break;
		case PINS_DIRECTION:
			self->outputs = value;
			break;
		case DELAY_US:
			self->free_ns += value * NS_PER_US;
			continue;
		default:
			if (bytes[i] & END)
				return;
		}
		self->free_ns += INSTRUCTION_NS;
		set_pins(self, bus);
	}
}

/* Reverses the bits of each byte: the adapter sends the lowest bit first, the part the highest. */
static void do_spi(struct ch341a *self, struct bus *bus, const uint8_t *bytes, size_t len)
{
	size_t place = (self->reply_first + self->reply_count) % REPLIES_MAX;
	struct reply *reply = &self->replies[place];

	for (size_t i = 0; i < len; i++) {
		uint8_t value = front_reversed(bytes[i]);

		self->free_ns += BYTE_NS;
		value = bus ? bus_exchange(bus, self->free_ns, value) : 0xFF;
		reply->bytes[i] = front_reversed(value);
	}
	reply->len = len;
	reply->ready_ns = self->free_ns;
	self->reply_count++;
}

static size_t packet_len(size_t len)
{
	return len < PACKET_BYTES ? len : PACKET_BYTES;
}

static bool is_spi(const uint8_t *packet, size_t len)
{
	return packet_len(len) > 1 && packet[0] == SPI_STREAM;
}

static size_t count_replies(const uint8_t *bytes, size_t len)
{
	size_t count = 0;

	for (size_t at = 0; at < len; at += PACKET_BYTES)
		count += is_spi(bytes + at, len - at);
	return count;
}

static void do_packet(struct ch341a *self, struct bus *bus, const uint8_t *packet, size_t len)
{
	if (is_spi(packet, len))
		do_spi(self, bus, packet + 1, packet_len(len) - 1);
	else if (packet[0] == PIN_STREAM)
		do_pins(self, bus, packet + 1, packet_len(len) - 1);
}

static int write_bulk(
	void *state, struct bus *bus, uint64_t now_ns, const uint8_t *bytes, size_t len)
{
	struct ch341a *self = state;
	size_t replies = count_replies(bytes, len);

	if (replies > REPLIES_MAX)
		return -EMSGSIZE;
	if (replies > REPLIES_MAX - self->reply_count)
		return -EAGAIN;
	self->free_ns = front_next_ns(self->free_ns, bus, now_ns);
	set_pins(self, bus);
	for (size_t at = 0; at < len; at += PACKET_BYTES)
		do_packet(self, bus, bytes + at, len - at);
	return 0;
}

static uint64_t ready_ns(const void *state)
{
	const struct ch341a *self = state;

	return self->reply_count > 0 ? self->replies[self->reply_first].ready_ns : UINT64_MAX;
}

static size_t read_bulk(void *state, struct bus *bus, uint64_t now_ns, uint8_t *bytes, size_t room)
{
	struct ch341a *self = state;
	const struct reply *reply = &self->replies[self->reply_first];
	size_t len;

	(void)bus;
	if (ready_ns(self) > now_ns)
		return 0;
	len = reply->len < room ? reply->len : room;
	memcpy(bytes, reply->bytes, len);
	self->reply_first = (self->reply_first + 1) % REPLIES_MAX;
	self->reply_count--;
	return len;
}

static const struct front_usb usb = {
	.vendor = 0x1A86,
	.product = 0x5512,
	.revision = 0x0304,
	.name = "USB UART-LPT",
	.interface_class = {0xFF, 0x01, 0x02},
	.interface_count = 1,
	.endpoint_out = 2,
	.endpoint_in = 2,
	.endpoint_interrupt = 1,
	.packet_bytes = PACKET_BYTES,
	.state_bytes = sizeof(struct ch341a),
	.reset = reset,
	.write = write_bulk,
	.read = read_bulk,
	.ready_ns = ready_ns,
};

const struct front ch341a_front = {
	.name = "ch341a",
	.usb = &usb,
};
