/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "device.h"

#include <assert.h>
#include <string.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_S UINT64_C(1000000000)

#define SERIAL_BUFFER_BYTES 0xFFFF
#define OPERATION_BUFFER_BYTES 0x1000
#define DELAY_BYTES 5 /* of one O_DELAY in the operation buffer */

/* Below 2^16, since some hosts keep these lengths in 16 bits. */
const struct serprog_limits device_limits = {
	.write_len_max = 0xF000,
	.read_len_max = 0xF000,
};

/* Returns how many bytes follow the ACK in @out, or REFUSED. */
typedef size_t (*answer_fn)(
	struct device *device, const struct serprog_request *request, uint8_t *out);

#define REFUSED SIZE_MAX

struct answer {
	answer_fn run;
	bool native_delay_only;
};

size_t device_reply_bytes_max(void)
{
	return 1u + (size_t)device_limits.read_len_max;
}

void device_init(struct device *device, struct chip *chip, struct clock *clock,
	const struct device_options *options)
{
	memset(device, 0, sizeof(*device));
	device->chip = chip;
	device->clock = clock;
	device->options = *options;
}

static void clear_operations(struct device *device)
{
	device->delay_us = 0;
	device->delay_count = 0;
}

void device_reconnect(struct device *device)
{
	device->spi_clock_hz = 0;
	clear_operations(device);
}

static size_t answer_nop(struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)device;
	(void)request;
	(void)out;
	return 0;
}

static size_t answer_iface(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)device;
	(void)request;
	return serprog_put_u16(out, SERPROG_VERSION);
}

static size_t answer_cmdmap(
	struct device *device, const struct serprog_request *request, uint8_t *out);

static size_t answer_pgmname(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	static const char name[] = "serprog-emu";

	(void)device;
	(void)request;
	memset(out, 0, SERPROG_PGMNAME_BYTES);
	memcpy(out, name, sizeof(name) - 1);
	return SERPROG_PGMNAME_BYTES;
}

static size_t answer_serbuf(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)device;
	(void)request;
	return serprog_put_u16(out, SERIAL_BUFFER_BYTES);
}

static size_t answer_bustype(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)device;
	(void)request;
	out[0] = SERPROG_BUS_SPI;
	return 1;
}

static size_t answer_opbuf(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)device;
	(void)request;
	return serprog_put_u16(out, OPERATION_BUFFER_BYTES);
}

static size_t answer_wrnmaxlen(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)device;
	(void)request;
	return serprog_put_u24(out, device_limits.write_len_max);
}

static size_t answer_rdnmaxlen(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)device;
	(void)request;
	return serprog_put_u24(out, device_limits.read_len_max);
}

static size_t answer_init(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)request;
	(void)out;
	clear_operations(device);
	return 0;
}

static size_t answer_delay(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)out;
	if ((device->delay_count + 1) * DELAY_BYTES > OPERATION_BUFFER_BYTES)
		return REFUSED;
	device->delay_us += request->value;
	device->delay_count++;
	return 0;
}

/* The delays run in the chip's own time: this programmer is never the one that is too short. */
static size_t answer_exec(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	uint64_t now_ns = clock_now_ns(device->clock);

	(void)request;
	(void)out;
	clock_wait_until(device->clock, now_ns + device->delay_us * NS_PER_US);
	clear_operations(device);
	return 0;
}

static size_t answer_set_bustype(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)device;
	(void)out;
	return request->value & SERPROG_BUS_SPI ? 0 : REFUSED;
}

/* A programmer may choose a slower clock than it was asked for: never above what the part takes. */
static size_t answer_spi_freq(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	uint32_t hz_max = device->chip->part->spi->clock_hz_max;

	if (request->value == 0)
		return REFUSED;
	device->spi_clock_hz = request->value < hz_max ? request->value : hz_max;
	return serprog_put_u32(out, device->spi_clock_hz);
}

static size_t answer_spi_cs(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)device;
	(void)out;
	return request->value == 0 ? 0 : REFUSED;
}

static const struct answer answers[] = {
	[SERPROG_NOP] = {answer_nop, false},
	[SERPROG_Q_IFACE] = {answer_iface, false},
	[SERPROG_Q_CMDMAP] = {answer_cmdmap, false},
	[SERPROG_Q_PGMNAME] = {answer_pgmname, false},
	[SERPROG_Q_SERBUF] = {answer_serbuf, false},
	[SERPROG_Q_BUSTYPE] = {answer_bustype, false},
	[SERPROG_Q_OPBUF] = {answer_opbuf, true},
	[SERPROG_Q_WRNMAXLEN] = {answer_wrnmaxlen, false},
	[SERPROG_O_INIT] = {answer_init, true},
	[SERPROG_O_DELAY] = {answer_delay, true},
	[SERPROG_O_EXEC] = {answer_exec, true},
	[SERPROG_SYNCNOP] = {answer_nop, false},
	[SERPROG_Q_RDNMAXLEN] = {answer_rdnmaxlen, false},
	[SERPROG_S_BUSTYPE] = {answer_set_bustype, false},
	[SERPROG_O_SPIOP] = {answer_nop, false}, /* offered here, answered by answer_spi() */
	[SERPROG_S_SPI_FREQ] = {answer_spi_freq, false},
	[SERPROG_S_PIN_STATE] = {answer_nop, false},
	[SERPROG_S_SPI_CS] = {answer_spi_cs, false},
};

#define ANSWER_COUNT (sizeof(answers) / sizeof(answers[0]))

static bool offers(const struct device *device, uint8_t op)
{
	if (op >= ANSWER_COUNT || !answers[op].run)
		return false;
	return device->options.native_delay || !answers[op].native_delay_only;
}

static size_t answer_cmdmap(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)request;
	memset(out, 0, SERPROG_CMDMAP_BYTES);
	for (size_t op = 0; op < ANSWER_COUNT; op++) {
		if (offers(device, (uint8_t)op))
			out[op / 8] |= (uint8_t)(1u << op % 8);
	}
	return SERPROG_CMDMAP_BYTES;
}

/* Wire time passes before the reply: a host must not see the answer before the last clock edge. */
static uint64_t pass_wire_time(
	struct device *device, const struct serprog_request *request, uint64_t start_ns)
{
	uint64_t bits = ((uint64_t)request->write_len + request->read_len) * 8;

	if (!device->options.spi_wire_time || device->spi_clock_hz == 0)
		return start_ns;
	clock_wait_until(device->clock, start_ns + bits * NS_PER_S / device->spi_clock_hz);
	return clock_now_ns(device->clock);
}

static size_t answer_spi(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint8_t *reply, struct event *event)
{
	struct chip_transfer transfer = {
		.start_ns = start_ns,
		.end_ns = pass_wire_time(device, request, start_ns),
		.command = request->data,
		.command_len = request->write_len,
		.reply = reply + 1,
		.reply_len = request->read_len,
	};

	event->kind = EVENT_SPI;
	event->write_len = request->write_len;
	event->read_len = request->read_len;
	event->wire_ns = transfer.end_ns - transfer.start_ns;
	chip_transfer(device->chip, &transfer, &event->chip);
	reply[0] = SERPROG_ACK;
	return 1u + (size_t)request->read_len;
}

static size_t answer_serprog(
	struct device *device, const struct serprog_request *request, uint8_t *reply)
{
	size_t len = REFUSED;

	if (offers(device, request->op) && !request->oversized)
		len = answers[request->op].run(device, request, reply + 1);
	reply[0] = len == REFUSED ? SERPROG_NAK : SERPROG_ACK;
	return len == REFUSED ? 1 : 1 + len;
}

static bool is_for_chip(const struct serprog_request *request)
{
	return request->op == SERPROG_O_SPIOP && !request->oversized && request->write_len > 0;
}

size_t device_answer(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint8_t *reply, struct event *event)
{
	size_t len;

	memset(event, 0, sizeof(*event));
	event->op = request->op;
	if (is_for_chip(request))
		return answer_spi(device, request, start_ns, reply, event);

	event->kind = EVENT_SERPROG;
	if (request->op == SERPROG_SYNCNOP) { /* the one reply that begins with a NAK */
		serprog_put_u16(reply, SERPROG_ACK << 8 | SERPROG_NAK);
		event->ack = true;
		return 2;
	}
	if (request->op == SERPROG_O_SPIOP) { /* nothing to say to the chip, or too much */
		reply[0] = SERPROG_NAK;
		return 1;
	}
	len = answer_serprog(device, request, reply);
	event->ack = reply[0] == SERPROG_ACK;
	return len;
}
