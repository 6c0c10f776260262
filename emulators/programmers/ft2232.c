/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An FTDI FT2232H, a USB adapter of two channels. The first has a command processor (MPSSE) that
 * sets pins and clocks bytes; the second exists, but never answers.
 *
 * Bytes take the time of their clocks. Pins change in no time, since no source says how long they
 * take. The bytes that the part drove wait in a buffer; while it is full, the processor waits, too.
 * They reach the host in packets that begin with two bytes of status. A packet leaves when it is
 * full, when a command requests it, or when the latency timer ends; every packet restarts the
 * timer. Commands that clock single bits do not reach the part.
 *
 * Sources: FTDI AN_108 (commands), AN_135 (bad commands), AN232B-04 (latency timer); FT2232H
 * datasheet (descriptors, buffers of 4 KiB).
 */
#include "front.h"
#include "shared/units.h"

#include <errno.h>
#include <string.h>

/* Commands that clock data, made of these bits. */
#define CLOCKS 0x70 /* a command with any of these bits clocks data */
#define CLOCKS_BITS 0x02
#define CLOCKS_LOWEST_FIRST 0x08
#define CLOCKS_OUT 0x10
#define CLOCKS_IN 0x20
#define CLOCKS_TMS 0x40

#define SET_LOW_PINS 0x80
#define GET_LOW_PINS 0x81
#define SET_HIGH_PINS 0x82
#define GET_HIGH_PINS 0x83
#define LOOPBACK_ON 0x84
#define LOOPBACK_OFF 0x85
#define SET_DIVISOR 0x86
#define SEND_NOW 0x87
#define CLOCK_FAST 0x8A
#define CLOCK_SLOW 0x8B
#define CLOCK_BITS 0x8E
#define CLOCK_BYTES 0x8F
#define CLOCK_BYTES_HIGH 0x9C
#define CLOCK_BYTES_LOW 0x9D
#define OPEN_DRAIN 0x9E
#define COMMAND_LAST OPEN_DRAIN
#define BAD_COMMAND 0xFA
#define REPLIES_OF_COMMAND_MAX 2

/* Requests. */
#define TO_DEVICE 0x40
#define FROM_DEVICE 0xC0
#define RESET 0
#define RESET_ALL 0
#define RESET_COMMANDS 1
#define GET_STATUS 5
#define SET_LATENCY 9
#define GET_LATENCY 10
#define SET_MODE 11
#define GET_PINS 12
#define GET_EEPROM 0x90
#define MODE_MPSSE 2
#define CHANNEL_B 2

#define CHIP_SELECT 0x08 /* ADBUS3 */
#define ALL_HIGH 0xFF

#define PACKET_BYTES 512
#define REPLIES_MAX 4096 /* the size of the chip's buffer for the host */
#define STATUS_BYTES 2
#define DATA_BYTES (PACKET_BYTES - STATUS_BYTES)
static const uint8_t status_bytes[STATUS_BYTES] = {0x32, 0x60};

#define LATENCY_MS 16
#define BITS_PER_BYTE UINT64_C(8)
#define FAST_MHZ 60
#define SLOW_MHZ 12

/* A byte for the host, and the time from which it can be read. */
struct reply {
	uint64_t ready_ns;
	uint8_t value;
};

struct ft2232 {
	uint64_t free_ns;    /* the end of all commands so far */
	uint64_t sent_ns;    /* when the last packet for the host left */
	uint64_t latency_ns; /* a packet that is not full waits that long after the last one */
	uint64_t flush_ns;   /* when SEND_NOW requested the packet; 0: no request */
	bool is_on;          /* the command processor takes what the host sends */
	bool is_fast;        /* the clock is 60 MHz; false: 12 MHz */
	bool loops_back;
	uint16_t divisor;
	uint8_t levels; /* the levels of pins ADBUS0 to ADBUS7, where they are outputs */
	uint8_t outputs;
	uint8_t head[3]; /* the current command */
	size_t head_len;
	uint32_t clock_bytes; /* the bytes that the current command still clocks */
	size_t input_at;
	size_t input_len;
	uint8_t input[64 << 10];
	size_t reply_first;
	size_t reply_count;
	struct reply replies[REPLIES_MAX];
};

static void reset(void *state)
{
	struct ft2232 *self = state;

	memset(self, 0, sizeof(*self));
	self->latency_ns = LATENCY_MS * NS_PER_MS;
}

/* A pin that is not an output is pulled up. */
static uint8_t pins(const struct ft2232 *self)
{
	return (uint8_t)(self->levels | ~self->outputs);
}

static void set_pins(const struct ft2232 *self, struct bus *bus)
{
	if (bus)
		(pins(self) & CHIP_SELECT ? bus_deselect : bus_select)(bus, self->free_ns);
}

static void catch_up(struct ft2232 *self, struct bus *bus, uint64_t now_ns)
{
	self->free_ns = front_next_ns(self->free_ns, bus, now_ns);
	set_pins(self, bus);
}

/* Callers make sure that there is room. */
static void reply(struct ft2232 *self, uint8_t value)
{
	size_t place = (self->reply_first + self->reply_count++) % REPLIES_MAX;

	self->replies[place] = (struct reply){.ready_ns = self->free_ns, .value = value};
}

static uint64_t byte_ns(const struct ft2232 *self)
{
	const uint64_t half_clocks = 2 * BITS_PER_BYTE * (1 + (uint64_t)self->divisor);

	return half_clocks * 1000 / (self->is_fast ? FAST_MHZ : SLOW_MHZ);
}

/* Returns false if the host has not sent the byte yet. */
static bool clock_byte(struct ft2232 *self, struct bus *bus)
{
	const uint8_t command = self->head[0];
	const bool is_reversed = command & CLOCKS_LOWEST_FIRST;
	uint8_t sent = 0;
	uint8_t heard;

	if (command & CLOCKS_OUT && self->input_at == self->input_len)
		return false;
	if (command & CLOCKS_OUT)
		sent = self->input[self->input_at++];
	self->free_ns += byte_ns(self);
	heard = bus ? bus_exchange(bus, self->free_ns, is_reversed ? front_reversed(sent) : sent)
		    : ALL_HIGH;
	if (command & CLOCKS_IN && self->loops_back)
		reply(self, sent);
	else if (command & CLOCKS_IN)
		reply(self, is_reversed ? front_reversed(heard) : heard);
	self->clock_bytes--;
	return true;
}

/* Returns the length of a command without the bytes that it clocks. */
static size_t head_bytes(uint8_t command)
{
	switch (command) {
	case SET_LOW_PINS:
	case SET_HIGH_PINS:
	case SET_DIVISOR:
	case CLOCK_BYTES:
	case CLOCK_BYTES_HIGH:
	case CLOCK_BYTES_LOW:
	case OPEN_DRAIN:
		return 3;
	case CLOCK_BITS:
		return 2;
	default:
		if (command & 0x80 || !(command & CLOCKS))
			return 1;
		return command & CLOCKS_BITS && !(command & (CLOCKS_OUT | CLOCKS_TMS)) ? 2 : 3;
	}
}

static uint16_t number(const struct ft2232 *self)
{
	return (uint16_t)(self->head[1] | self->head[2] << 8);
}

static void begin_clocks(struct ft2232 *self)
{
	if (!(self->head[0] & (CLOCKS_BITS | CLOCKS_TMS)))
		self->clock_bytes = number(self) + 1U;
	else if (self->head[0] & CLOCKS_IN)
		reply(self, ALL_HIGH);
}

static void refuse(struct ft2232 *self)
{
	reply(self, BAD_COMMAND);
	reply(self, self->head[0]);
}

static void set_low_pins(struct ft2232 *self, struct bus *bus)
{
	self->levels = self->head[1];
	self->outputs = self->head[2];
	set_pins(self, bus);
}

static void do_command(struct ft2232 *self, struct bus *bus)
{
	switch (self->head[0]) {
	case SET_LOW_PINS:
		set_low_pins(self, bus);
		break;
	case GET_LOW_PINS:
		reply(self, pins(self));
		break;
	case GET_HIGH_PINS:
		reply(self, ALL_HIGH);
		break;
	case LOOPBACK_ON:
	case LOOPBACK_OFF:
		self->loops_back = self->head[0] == LOOPBACK_ON;
		break;
	case SET_DIVISOR:
		self->divisor = number(self);
		break;
	case SEND_NOW:
		self->flush_ns = self->reply_count > 0 ? self->free_ns : 0;
		break;
	case CLOCK_FAST:
	case CLOCK_SLOW:
		self->is_fast = self->head[0] == CLOCK_FAST;
		break;
	default:
		if (self->head[0] < SET_LOW_PINS && self->head[0] & CLOCKS)
			begin_clocks(self);
		else if (self->head[0] < SET_LOW_PINS || self->head[0] > COMMAND_LAST)
			refuse(self);
	}
}

static void take_head(struct ft2232 *self, struct bus *bus)
{
	self->head[self->head_len++] = self->input[self->input_at++];
	if (self->head_len < head_bytes(self->head[0]))
		return;
	self->head_len = 0;
	do_command(self, bus);
}

/* Runs the commands that the host sent, as long as there is room for their replies. */
static void run(struct ft2232 *self, struct bus *bus, uint64_t now_ns)
{
	catch_up(self, bus, now_ns);
	while (self->reply_count + REPLIES_OF_COMMAND_MAX <= REPLIES_MAX) {
		if (self->clock_bytes > 0) {
			if (!clock_byte(self, bus))
				break;
		} else if (self->input_at < self->input_len) {
			take_head(self, bus);
		} else {
			break;
		}
	}
}

static bool is_waiting(const struct ft2232 *self)
{
	return self->input_at < self->input_len;
}

static int write_bulk(
	void *state, struct bus *bus, uint64_t now_ns, const uint8_t *bytes, size_t len)
{
	struct ft2232 *self = state;

	if (len > sizeof(self->input))
		return -EMSGSIZE;
	if (is_waiting(self))
		return -EAGAIN;
	if (!self->is_on)
		return 0;
	memcpy(self->input, bytes, len);
	self->input_at = 0;
	self->input_len = len;
	run(self, bus, now_ns);
	return 0;
}

static const struct reply *reply_at(const struct ft2232 *self, size_t index)
{
	return &self->replies[(self->reply_first + index) % REPLIES_MAX];
}

static uint64_t ready_ns(const void *state)
{
	const struct ft2232 *self = state;
	uint64_t at_ns = self->sent_ns + self->latency_ns;

	if (self->reply_count >= DATA_BYTES && reply_at(self, DATA_BYTES - 1)->ready_ns < at_ns)
		at_ns = reply_at(self, DATA_BYTES - 1)->ready_ns;
	if (self->flush_ns != 0 && self->flush_ns < at_ns)
		at_ns = self->flush_ns;
	return at_ns;
}

/* Takes the replies that are ready at @now_ns. Returns their number. */
static size_t take_replies(struct ft2232 *self, uint64_t now_ns, uint8_t *bytes, size_t room)
{
	size_t len = 0;

	while (len < room && self->reply_count > 0 && reply_at(self, 0)->ready_ns <= now_ns) {
		bytes[len++] = reply_at(self, 0)->value;
		self->reply_first = (self->reply_first + 1) % REPLIES_MAX;
		self->reply_count--;
	}
	return len;
}

/* Makes one packet for the host. Returns its length. */
static size_t send_packet(struct ft2232 *self, uint64_t now_ns, uint8_t *bytes, size_t room)
{
	size_t len = room - STATUS_BYTES < DATA_BYTES ? room - STATUS_BYTES : DATA_BYTES;

	memcpy(bytes, status_bytes, STATUS_BYTES);
	self->sent_ns = now_ns;
	len = take_replies(self, now_ns, bytes + STATUS_BYTES, len);
	if (self->reply_count == 0)
		self->flush_ns = 0;
	return STATUS_BYTES + len;
}

/* Full packets follow each other; one that is not full ends the transfer. */
static size_t read_bulk(void *state, struct bus *bus, uint64_t now_ns, uint8_t *bytes, size_t room)
{
	struct ft2232 *self = state;
	size_t len = 0;

	while (room - len >= STATUS_BYTES && len % PACKET_BYTES == 0 && ready_ns(self) <= now_ns)
		len += send_packet(self, now_ns, bytes + len, room - len);
	if (is_waiting(self) || self->clock_bytes > 0)
		run(self, bus, now_ns);
	return len;
}

static void forget_commands(struct ft2232 *self)
{
	self->head_len = 0;
	self->clock_bytes = 0;
	self->input_at = self->input_len = 0;
}

static void forget_replies(struct ft2232 *self)
{
	self->reply_count = 0;
	self->flush_ns = 0;
}

static void do_reset(struct ft2232 *self, uint16_t what)
{
	if (what == RESET_ALL || what == RESET_COMMANDS)
		forget_commands(self);
	if (what != RESET_COMMANDS)
		forget_replies(self);
}

static void set_mode(struct ft2232 *self, struct bus *bus, uint64_t now_ns, uint16_t value)
{
	forget_commands(self);
	self->is_on = value >> 8 == MODE_MPSSE;
	self->outputs = self->is_on ? (uint8_t)value : 0;
	catch_up(self, bus, now_ns);
}

static int set(
	struct ft2232 *self, struct bus *bus, uint64_t now_ns, const struct front_request *request)
{
	if (request->number > SET_MODE || request->number == 8)
		return -EOPNOTSUPP;
	if (request->channel == CHANNEL_B)
		return 0;
	if (request->number == RESET)
		do_reset(self, request->value);
	else if (request->number == SET_LATENCY)
		self->latency_ns = (request->value & 0xFF ? request->value & 0xFF : 1) * NS_PER_MS;
	else if (request->number == SET_MODE)
		set_mode(self, bus, now_ns, request->value);
	return 0;
}

static int answer(uint8_t *bytes, size_t room, uint16_t value, size_t len)
{
	const uint8_t all[] = {(uint8_t)value, (uint8_t)(value >> 8)};

	len = len < room ? len : room;
	memcpy(bytes, all, len);
	return (int)len;
}

static int get(const struct ft2232 *self, const struct front_request *request, uint8_t *bytes)
{
	switch (request->number) {
	case GET_STATUS:
		return answer(bytes, request->len, status_bytes[0] | status_bytes[1] << 8, 2);
	case GET_LATENCY:
		return answer(bytes, request->len, (uint16_t)(self->latency_ns / NS_PER_MS), 1);
	case GET_PINS:
		return answer(bytes, request->len, pins(self), 1);
	case GET_EEPROM:
		return answer(bytes, request->len, UINT16_MAX, 2);
	default:
		return -EOPNOTSUPP;
	}
}

static int control(void *state, struct bus *bus, uint64_t now_ns,
	const struct front_request *request, uint8_t *bytes)
{
	if (request->type == TO_DEVICE)
		return set(state, bus, now_ns, request);
	return request->type == FROM_DEVICE ? get(state, request, bytes) : -EOPNOTSUPP;
}

static const struct front_usb usb = {
	.vendor = 0x0403,
	.product = 0x6010,
	.revision = 0x0700,
	.name = "Dual RS232-HS",
	.interface_class = {0xFF, 0xFF, 0xFF},
	.interface_count = 2,
	.endpoint_out = 2,
	.endpoint_in = 1,
	.is_high_speed = true,
	.packet_bytes = PACKET_BYTES,
	.state_bytes = sizeof(struct ft2232),
	.reset = reset,
	.control = control,
	.write = write_bulk,
	.read = read_bulk,
	.ready_ns = ready_ns,
};

const struct front ft2232_front = {
	.name = "ft2232",
	.usb = &usb,
};
