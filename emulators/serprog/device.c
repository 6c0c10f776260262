/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "device.h"
#include "shared/units.h"

#include <string.h>

#define SERIAL_BUFFER_BYTES 0xFFFF

/* Below 2^16, since some clients keep these lengths in 16 bits. */
#define LEN_MAX 0xF000

static uint32_t value_or(uint32_t value, uint32_t fallback)
{
	return value > 0 ? value : fallback;
}

static uint32_t opbuf_bytes(const struct link_model *link)
{
	return value_or(link->opbuf_bytes, OPERATIONS_BYTES);
}

static uint32_t write_len_max(const struct part *part, const struct link_model *link)
{
	uint32_t room = opbuf_bytes(link);
	uint32_t len;

	if (part->spi)
		return link->any_length ? LINK_MODEL_LEN_MAX
					: value_or(link->write_len_max, LEN_MAX);
	room -= room > OPERATIONS_WRITEN_HEAD_BYTES ? OPERATIONS_WRITEN_HEAD_BYTES : room;
	len = value_or(link->write_len_max, room);
	return len < room ? len : room;
}

struct serprog_limits device_limits(const struct part *part, const struct link_model *link)
{
	return (struct serprog_limits){
		.write_len_max = write_len_max(part, link),
		.read_len_max = link->any_length ? LINK_MODEL_LEN_MAX
						 : value_or(link->read_len_max, LEN_MAX),
	};
}

#define REFUSED SIZE_MAX

#define OPERATION_BYTES_MIN 5 /* O_WRITEB and O_DELAY */

/*
 * With the quirk exec_acks, O_EXEC sends one ACK for each operation in its buffer, whatever the
 * limits are. With ack_bytes, a read has an ACK before each piece.
 */
size_t device_reply_bytes_max(const struct serprog_limits *limits)
{
	size_t acks = OPERATIONS_BYTES / OPERATION_BYTES_MIN;
	size_t read_len = limits->read_len_max;

	read_len += read_len / LINK_MODEL_ACK_BYTES_MIN + 1;
	return 1 + (read_len > acks ? read_len : acks);
}

void device_init(struct device *device, struct chip *chip, struct clock *clock,
	struct events *executed, const struct device_options *options)
{
	memset(device, 0, sizeof(*device));
	device->chip = chip;
	device->clock = clock;
	device->executed = executed;
	device->options = *options;
	device->limits = device_limits(chip->part, &options->link);
	device->operations.size_bytes = opbuf_bytes(&options->link);
	device->operations.quirks = &device->options.link.quirks;
}

static void forget_operations(struct device *device)
{
	device->operations.len = 0;
	device->unanswered = 0;
}

void device_reconnect(struct device *device)
{
	device->spi_clock_hz = 0;
	forget_operations(device);
}

uint8_t device_bus(const struct part *part)
{
	static const uint8_t buses[] = {
		[PARALLEL_BUS_PARALLEL] = SERPROG_BUS_PARALLEL,
		[PARALLEL_BUS_LPC] = SERPROG_BUS_LPC,
		[PARALLEL_BUS_FWH] = SERPROG_BUS_FWH,
	};

	return part->parallel ? buses[part->parallel->bus] : SERPROG_BUS_SPI;
}

static bool offers(const struct device *device, uint8_t op)
{
	const struct device_quirks *quirks = &device->options.link.quirks;
	const struct part *part = device->chip->part;
	bool delays = device->options.native_delay;

	switch (op) {
	case SERPROG_S_PIN_STATE:
		return !quirks->no_pin_state;
	case SERPROG_S_BUSTYPE:
		return !quirks->no_bustype;
	case SERPROG_S_SPI_MODE:
	case SERPROG_S_CS_MODE:
		return part->spi && quirks->spi_modes;
	case SERPROG_O_SPIOP:
	case SERPROG_S_SPI_FREQ:
	case SERPROG_S_SPI_CS:
		return part->spi != NULL;
	case SERPROG_R_BYTE:
	case SERPROG_R_NBYTES:
	case SERPROG_O_WRITEB:
	case SERPROG_O_WRITEN:
		return part->parallel != NULL;
	case SERPROG_Q_CHIPSIZE:
		return device_bus(part) == SERPROG_BUS_PARALLEL;
	case SERPROG_O_DELAY:
		return delays;
	case SERPROG_Q_OPBUF:
	case SERPROG_O_INIT:
	case SERPROG_O_EXEC: /* if an operation can be put into the operation buffer */
		return delays || part->parallel;
	case SERPROG_Q_WRNMAXLEN:
	case SERPROG_Q_RDNMAXLEN: /* if the firmware has a limit */
		return !device->options.link.any_length;
	default:
		return op < SERPROG_OP_COUNT;
	}
}

bool device_acks_first(const struct device *device, uint8_t op)
{
	return device->options.link.quirks.ack_first && offers(device, op) &&
	       (op == SERPROG_S_BUSTYPE || op == SERPROG_S_SPI_FREQ);
}

static size_t put_cmdmap(const struct device *device, uint8_t *out)
{
	memset(out, 0, SERPROG_CMDMAP_BYTES);
	for (size_t op = 0; op < SERPROG_OP_COUNT; op++) {
		if (offers(device, (uint8_t)op))
			out[op / 8] |= (uint8_t)(1u << op % 8);
	}
	return SERPROG_CMDMAP_BYTES;
}

static size_t put_name(uint8_t *out)
{
	static const char name[] = "serprog-emu";

	memset(out, 0, SERPROG_PGMNAME_BYTES);
	memcpy(out, name, sizeof(name) - 1);
	return SERPROG_PGMNAME_BYTES;
}

/* Returns the number of address lines of the part. */
static uint8_t chip_size(const struct part *part)
{
	uint8_t lines = 0;

	while (part->size_bytes >> lines > 1)
		lines++;
	return lines;
}

/* Sets the requested clock, or the part's maximum if that is slower: serprog allows it. */
static size_t set_spi_clock(struct device *device, uint32_t hz, uint8_t *out)
{
	uint32_t hz_max = device->chip->part->spi->clock_hz_max;

	if (hz == 0)
		return REFUSED;
	device->spi_clock_hz = hz < hz_max ? hz : hz_max;
	return serprog_put_number(out, device->spi_clock_hz, 4);
}

/* Puts the bytes that follow the ACK into @out. Returns their number. */
static size_t answer_query(const struct device *device, uint8_t op, uint8_t *out)
{
	switch (op) {
	case SERPROG_Q_IFACE:
		return serprog_put_number(out, SERPROG_VERSION, 2);
	case SERPROG_Q_CMDMAP:
		return put_cmdmap(device, out);
	case SERPROG_Q_PGMNAME:
		return put_name(out);
	case SERPROG_Q_SERBUF:
		return serprog_put_number(out,
			value_or(device->options.link.serial_buffer_bytes, SERIAL_BUFFER_BYTES), 2);
	case SERPROG_Q_BUSTYPE:
		*out = device_bus(device->chip->part);
		return 1;
	case SERPROG_Q_CHIPSIZE:
		*out = chip_size(device->chip->part);
		return 1;
	case SERPROG_Q_OPBUF:
		return serprog_put_number(out, (uint32_t)device->operations.size_bytes, 2);
	case SERPROG_Q_WRNMAXLEN:
		return serprog_put_number(out, device->limits.write_len_max, 3);
	case SERPROG_Q_RDNMAXLEN:
		return serprog_put_number(out, device->limits.read_len_max, 3);
	default:
		return 0;
	}
}

/* Answers a request, which may change the device. Returns as answer_query() does, or REFUSED. */
static size_t answer_change(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	switch (request->op) {
	case SERPROG_O_INIT:
		forget_operations(device);
		return 0;
	case SERPROG_O_WRITEB:
	case SERPROG_O_WRITEN:
		return operations_append(&device->operations, request) < 0 ? REFUSED : 0;
	case SERPROG_O_DELAY:
		if (device->options.link.quirks.delay_at_once)
			return 0;
		return operations_append(&device->operations, request) < 0 ? REFUSED : 0;
	case SERPROG_S_BUSTYPE:
		return request->value & device_bus(device->chip->part) ? 0 : REFUSED;
	case SERPROG_S_SPI_FREQ:
		return set_spi_clock(device, request->value, out);
	case SERPROG_S_SPI_CS:
	case SERPROG_S_SPI_MODE: /* 0: half duplex */
	case SERPROG_S_CS_MODE:  /* 0: a transfer drives chip select */
		return request->value == 0 ? 0 : REFUSED;
	default:
		return answer_query(device, request->op, out);
	}
}

/* Waits until the last clock edge, so that the client cannot get the reply earlier. */
static int pass_wire_time(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint64_t *end_ns)
{
	uint64_t bits = ((uint64_t)request->write_len + request->read_len) * 8;
	int ret;

	*end_ns = start_ns;
	if (!device->options.spi_wire_time || device->spi_clock_hz == 0)
		return 0;
	ret = clock_wait_until(device->clock, start_ns + bits * NS_PER_S / device->spi_clock_hz);
	*end_ns = clock_now_ns(device->clock);
	return ret;
}

/* Puts an ACK before each @piece bytes. Returns the length with all ACKs. */
static size_t put_acks(uint8_t *data, size_t len, size_t piece)
{
	size_t count = (len + piece - 1) / piece;

	for (size_t i = count; i > 0; i--) {
		size_t from = (i - 1) * piece;
		size_t size = len - from < piece ? len - from : piece;

		memmove(data + from + i, data + from, size);
		data[from + i - 1] = SERPROG_ACK;
	}
	return len + count;
}

static uint32_t bytes_for_the_part(
	const struct device_quirks *quirks, const struct serprog_request *request)
{
	uint32_t bytes_max = quirks->real_write_bytes;

	return bytes_max > 0 && request->write_len > bytes_max ? bytes_max : request->write_len;
}

static size_t answer_spi(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint8_t *reply, struct event *event)
{
	const struct device_quirks *quirks = &device->options.link.quirks;
	struct chip_transfer transfer = {
		.start_ns = start_ns,
		.command = request->data,
		.command_len = bytes_for_the_part(quirks, request),
		.reply = reply + 1,
		.reply_len = request->read_len,
	};

	/* If the wait is cancelled, the transfer is not complete, and does not reach the part. */
	if (pass_wire_time(device, request, start_ns, &transfer.end_ns) < 0)
		return DEVICE_ABANDONED;
	event->kind = EVENT_SPI;
	event->write_len = (uint32_t)transfer.command_len;
	event->read_len = request->read_len;
	event->wire_ns = transfer.end_ns - transfer.start_ns;
	transfer.end_ns += quirks->cs_late_us * NS_PER_US;
	device->cs_rises_ns = transfer.end_ns;
	chip_transfer(device->chip, &transfer, &event->chip);
	reply[0] = SERPROG_ACK;
	if (quirks->ack_bytes > 0 && request->read_len > quirks->ack_bytes)
		return 1 + put_acks(reply + 1, request->read_len, quirks->ack_bytes);
	return 1u + (size_t)request->read_len;
}

static size_t answer_read(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint8_t *reply, struct event *event)
{
	uint64_t end_ns = cycles_read(device->chip, request, start_ns, reply + 1, event);

	if (clock_wait_until(device->clock, end_ns) < 0)
		return DEVICE_ABANDONED;
	reply[0] = SERPROG_ACK;
	return 1u + (size_t)request->read_len;
}

/* Waits by the chip's clock, so that a delay in the buffer is never too short for the chip. */
static int execute(struct device *device, uint64_t start_ns)
{
	int ret = cycles_execute(
		device->chip, &device->operations, device->clock, start_ns, device->executed);

	device->operations.len = 0;
	return ret;
}

/* Returns true if the answer is a NAK. O_SPIOP, O_WRITEN and R_NBYTES need a length above 0. */
static bool is_refused(const struct device *device, const struct serprog_request *request)
{
	if (!offers(device, request->op) || request->oversized)
		return true;
	if (request->op == SERPROG_O_SPIOP || request->op == SERPROG_O_WRITEN)
		return request->write_len == 0;
	return request->op == SERPROG_R_NBYTES && request->read_len == 0;
}

/* Returns true for an operation that goes into the operation buffer. */
static bool is_buffered(const struct device_quirks *quirks, uint8_t op)
{
	return op == SERPROG_O_WRITEB || op == SERPROG_O_WRITEN ||
	       (op == SERPROG_O_DELAY && !quirks->delay_at_once);
}

/*
 * Returns how many of the @len bytes of an answer this firmware sends now. With exec_acks it sends
 * none for a buffered operation, but counts it: O_EXEC sends its ACK.
 */
static size_t sent_len(struct device *device, uint8_t op, bool ack, size_t len)
{
	const struct device_quirks *quirks = &device->options.link.quirks;

	if (!offers(device, op))
		return quirks->silent ? 0 : len;
	if (op == SERPROG_O_DELAY && quirks->delay_silent)
		return 0;
	if (!quirks->exec_acks || !is_buffered(quirks, op))
		return len;
	device->unanswered += ack;
	return 0;
}

/* Puts the ACKs that buffered operations still need, then that of O_EXEC. Returns their number. */
static size_t put_exec_acks(struct device *device, uint8_t *reply)
{
	size_t count = device->options.link.quirks.exec_acks ? device->unanswered : 0;

	memset(reply, SERPROG_ACK, count + 1);
	device->unanswered = 0;
	return count + 1;
}

static int pass_delay(
	struct device *device, const struct serprog_request *request, uint64_t start_ns)
{
	const struct device_quirks *quirks = &device->options.link.quirks;

	if (!quirks->delay_at_once)
		return 0;
	return clock_wait_until(
		device->clock, start_ns + operations_delay_ns(quirks, request->value));
}

/* Answers requests that are neither reads nor transfers. */
static size_t answer_other(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint8_t *reply, struct event *event)
{
	size_t len;

	if (request->op == SERPROG_O_DELAY && pass_delay(device, request, start_ns) < 0)
		return DEVICE_ABANDONED;
	if (request->op == SERPROG_O_EXEC) {
		if (execute(device, start_ns) < 0)
			return DEVICE_ABANDONED;
		event->ack = true;
		return put_exec_acks(device, reply);
	}
	len = answer_change(device, request, reply + 1);
	event->ack = len != REFUSED;
	reply[0] = event->ack ? SERPROG_ACK : SERPROG_NAK;
	return sent_len(device, request->op, event->ack, event->ack ? 1 + len : 1);
}

size_t device_answer(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint8_t *reply, struct event *event)
{
	memset(event, 0, sizeof(*event));
	event->op = request->op;
	event->kind = EVENT_SERPROG;
	event->name = serprog_name(request->op);
	if (is_refused(device, request)) {
		reply[0] = SERPROG_NAK;
		return sent_len(device, request->op, false, 1);
	}
	switch (request->op) {
	case SERPROG_O_SPIOP:
		return answer_spi(device, request, start_ns, reply, event);
	case SERPROG_R_BYTE:
	case SERPROG_R_NBYTES:
		return answer_read(device, request, start_ns, reply, event);
	case SERPROG_SYNCNOP: /* the one reply that begins with a NAK */
		serprog_put_number(reply, SERPROG_ACK << 8 | SERPROG_NAK, 2);
		event->ack = true;
		return 2;
	default:
		return answer_other(device, request, start_ns, reply, event);
	}
}
