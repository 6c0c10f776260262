/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "device.h"

#include <assert.h>
#include <string.h>

#include "cycles.h"

#define NS_PER_S UINT64_C(1000000000)

#define SERIAL_BUFFER_BYTES 0xFFFF

/* Below 2^16, since some clients keep these lengths in 16 bits. */
#define LEN_MAX 0xF000

static uint32_t opbuf_bytes(const struct link_model *link)
{
	return link->opbuf_bytes > 0 ? link->opbuf_bytes : OPERATIONS_BYTES;
}

static uint32_t write_len_max(const struct part *part, const struct link_model *link)
{
	uint32_t opbuf_max = opbuf_bytes(link) > OPERATIONS_WRITEN_HEAD_BYTES
				     ? opbuf_bytes(link) - OPERATIONS_WRITEN_HEAD_BYTES
				     : 0;

	if (!part->spi)
		return link->write_len_max > 0 && link->write_len_max < opbuf_max
			       ? link->write_len_max
			       : opbuf_max;
	if (link->lengths_untold)
		return LINK_MODEL_LEN_MAX;
	return link->write_len_max > 0 ? link->write_len_max : LEN_MAX;
}

static uint32_t read_len_max(const struct link_model *link)
{
	if (link->lengths_untold)
		return LINK_MODEL_LEN_MAX;
	return link->read_len_max > 0 ? link->read_len_max : LEN_MAX;
}

struct serprog_limits device_limits(const struct part *part, const struct link_model *link)
{
	return (struct serprog_limits){
		.write_len_max = write_len_max(part, link),
		.read_len_max = read_len_max(link),
	};
}

/* Returns how many bytes follow the ACK in @out, or REFUSED. */
typedef size_t (*answer_fn)(
	struct device *device, const struct serprog_request *request, uint8_t *out);

#define REFUSED SIZE_MAX

/* To whom an opcode is offered. */
enum offer {
	OFFER_ALWAYS,
	OFFER_SPI,
	OFFER_CYCLES,   /* on any bus but SPI */
	OFFER_PARALLEL, /* on the parallel bus */
	OFFER_DELAY,    /* where delays are native */
	OFFER_BUFFER,   /* where there is something to put into the operation buffer */
	OFFER_LENGTHS,  /* where the firmware knows an end to them */
};

struct answer {
	answer_fn run;
	enum offer offer;
};

/* The longest of the answers that no limit speaks of is the command map. */
size_t device_reply_bytes_max(const struct serprog_limits *limits)
{
	size_t read_len = limits->read_len_max;

	return 1 + (read_len > SERPROG_CMDMAP_BYTES ? read_len : SERPROG_CMDMAP_BYTES);
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
}

void device_reconnect(struct device *device)
{
	device->spi_clock_hz = 0;
	operations_clear(&device->operations);
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
	uint32_t told = device->options.link.serial_buffer_bytes;

	(void)request;
	return serprog_put_u16(out, told > 0 ? (uint16_t)told : SERIAL_BUFFER_BYTES);
}

static uint8_t bus_of(const struct part *part)
{
	static const uint8_t buses[] = {
		[PARALLEL_BUS_PARALLEL] = SERPROG_BUS_PARALLEL,
		[PARALLEL_BUS_LPC] = SERPROG_BUS_LPC,
		[PARALLEL_BUS_FWH] = SERPROG_BUS_FWH,
	};

	return part->parallel ? buses[part->parallel->bus] : SERPROG_BUS_SPI;
}

static size_t answer_bustype(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)request;
	out[0] = bus_of(device->chip->part);
	return 1;
}

/* How many address lines the part has. */
static size_t answer_chipsize(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)request;
	out[0] = 0;
	while (device->chip->part->size_bytes >> out[0] > 1)
		out[0]++;
	return 1;
}

static size_t answer_opbuf(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)request;
	return serprog_put_u16(out, (uint16_t)device->operations.size_bytes);
}

static size_t answer_wrnmaxlen(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)request;
	return serprog_put_u24(out, device->limits.write_len_max);
}

static size_t answer_rdnmaxlen(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)request;
	return serprog_put_u24(out, device->limits.read_len_max);
}

static size_t answer_init(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)request;
	(void)out;
	operations_clear(&device->operations);
	return 0;
}

static size_t answer_operation(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)out;
	return operations_append(&device->operations, request) < 0 ? REFUSED : 0;
}

static size_t answer_write(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	return request->write_len > 0 ? answer_operation(device, request, out) : REFUSED;
}

static size_t answer_set_bustype(
	struct device *device, const struct serprog_request *request, uint8_t *out)
{
	(void)out;
	return request->value & bus_of(device->chip->part) ? 0 : REFUSED;
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

/* answer_spi(), answer_read() and answer_exec() answer those of which only the offer is here. */
static const struct answer answers[] = {
	[SERPROG_NOP] = {answer_nop, OFFER_ALWAYS},
	[SERPROG_Q_IFACE] = {answer_iface, OFFER_ALWAYS},
	[SERPROG_Q_CMDMAP] = {answer_cmdmap, OFFER_ALWAYS},
	[SERPROG_Q_PGMNAME] = {answer_pgmname, OFFER_ALWAYS},
	[SERPROG_Q_SERBUF] = {answer_serbuf, OFFER_ALWAYS},
	[SERPROG_Q_BUSTYPE] = {answer_bustype, OFFER_ALWAYS},
	[SERPROG_Q_CHIPSIZE] = {answer_chipsize, OFFER_PARALLEL},
	[SERPROG_Q_OPBUF] = {answer_opbuf, OFFER_BUFFER},
	[SERPROG_Q_WRNMAXLEN] = {answer_wrnmaxlen, OFFER_LENGTHS},
	[SERPROG_R_BYTE] = {answer_nop, OFFER_CYCLES},
	[SERPROG_R_NBYTES] = {answer_nop, OFFER_CYCLES},
	[SERPROG_O_INIT] = {answer_init, OFFER_BUFFER},
	[SERPROG_O_WRITEB] = {answer_write, OFFER_CYCLES},
	[SERPROG_O_WRITEN] = {answer_write, OFFER_CYCLES},
	[SERPROG_O_DELAY] = {answer_operation, OFFER_DELAY},
	[SERPROG_O_EXEC] = {answer_nop, OFFER_BUFFER},
	[SERPROG_SYNCNOP] = {answer_nop, OFFER_ALWAYS},
	[SERPROG_Q_RDNMAXLEN] = {answer_rdnmaxlen, OFFER_LENGTHS},
	[SERPROG_S_BUSTYPE] = {answer_set_bustype, OFFER_ALWAYS},
	[SERPROG_O_SPIOP] = {answer_nop, OFFER_SPI},
	[SERPROG_S_SPI_FREQ] = {answer_spi_freq, OFFER_SPI},
	[SERPROG_S_PIN_STATE] = {answer_nop, OFFER_ALWAYS},
	[SERPROG_S_SPI_CS] = {answer_spi_cs, OFFER_SPI},
};

#define ANSWER_COUNT (sizeof(answers) / sizeof(answers[0]))

static bool has(const struct device *device, enum offer offer)
{
	const struct part *part = device->chip->part;
	bool delays = device->options.native_delay;

	switch (offer) {
	case OFFER_ALWAYS:
		return true;
	case OFFER_SPI:
		return part->spi != NULL;
	case OFFER_CYCLES:
		return part->parallel != NULL;
	case OFFER_PARALLEL:
		return bus_of(part) == SERPROG_BUS_PARALLEL;
	case OFFER_DELAY:
		return delays;
	case OFFER_BUFFER:
		return delays || part->parallel;
	case OFFER_LENGTHS:
		return !device->options.link.lengths_untold;
	}
	return false;
}

static bool offers(const struct device *device, uint8_t op)
{
	return op < ANSWER_COUNT && answers[op].run && has(device, answers[op].offer);
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

/* Wire time passes before the reply: no client may see the answer before the last clock edge. */
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

static size_t answer_spi(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint8_t *reply, struct event *event)
{
	struct chip_transfer transfer = {
		.start_ns = start_ns,
		.command = request->data,
		.command_len = request->write_len,
		.reply = reply + 1,
		.reply_len = request->read_len,
	};

	/* Cut off, it never reaches the part: chip select went away before the last clock edge. */
	if (pass_wire_time(device, request, start_ns, &transfer.end_ns) < 0)
		return DEVICE_ABANDONED;
	event->kind = EVENT_SPI;
	event->write_len = request->write_len;
	event->read_len = request->read_len;
	event->wire_ns = transfer.end_ns - transfer.start_ns;
	chip_transfer(device->chip, &transfer, &event->chip);
	reply[0] = SERPROG_ACK;
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

/* Delays pass in the chip's own time: this programmer is never the one that is too short. */
static int execute(struct device *device, uint64_t start_ns)
{
	int ret = cycles_execute(
		device->chip, &device->operations, device->clock, start_ns, device->executed);

	operations_clear(&device->operations);
	return ret;
}

static size_t answer_serprog(
	struct device *device, const struct serprog_request *request, uint8_t *reply)
{
	size_t len = answers[request->op].run(device, request, reply + 1);

	reply[0] = len == REFUSED ? SERPROG_NAK : SERPROG_ACK;
	return len == REFUSED ? 1 : 1 + len;
}

/* Also for what asks for nothing, of which a length of 0 is the sign. */
static bool is_refused(const struct device *device, const struct serprog_request *request)
{
	if (!offers(device, request->op) || request->oversized)
		return true;
	if (request->op == SERPROG_O_SPIOP)
		return request->write_len == 0;
	return request->op == SERPROG_R_NBYTES && request->read_len == 0;
}

size_t device_answer(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint8_t *reply, struct event *event)
{
	size_t len;

	memset(event, 0, sizeof(*event));
	event->op = request->op;
	event->kind = EVENT_SERPROG;
	event->name = serprog_name(request->op);
	if (is_refused(device, request)) {
		reply[0] = SERPROG_NAK;
		return 1;
	}
	switch (request->op) {
	case SERPROG_O_SPIOP:
		return answer_spi(device, request, start_ns, reply, event);
	case SERPROG_R_BYTE:
	case SERPROG_R_NBYTES:
		return answer_read(device, request, start_ns, reply, event);
	case SERPROG_SYNCNOP: /* the one reply that begins with a NAK */
		serprog_put_u16(reply, SERPROG_ACK << 8 | SERPROG_NAK);
		event->ack = true;
		return 2;
	case SERPROG_O_EXEC:
		if (execute(device, start_ns) < 0)
			return DEVICE_ABANDONED;
		break;
	default:
		break;
	}
	len = answer_serprog(device, request, reply);
	event->ack = reply[0] == SERPROG_ACK;
	return len;
}
