/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the emulated programmer: any bytes go through codec and device, with a chip behind them.
 *
 * An input is the part, the corner, options, four pauses that are used in turn between requests,
 * and the stream of bytes. Each request must have the size that the protocol gives it: a client and
 * a device that disagree about a size misread all that follows.
 */
#include <string.h>

#include "chip_memory.h"
#include "records.h"
#include "serprog/device.h"

#define PAUSES 4

enum option {
	OPTION_NATIVE_DELAY = 1 << 0,
	OPTION_SPI_WIRE_TIME = 1 << 1,
	OPTION_RECORDS = 1 << 2, /* set to write the records */
	OPTION_LINK = 31 << 3,   /* the number of a preset; 0 for none */
};

struct bench {
	struct serprog_limits limits;
	struct chip chip;
	struct clock clock;
	struct events events;
	struct device device;
	uint8_t *reply;
	uint8_t pauses[PAUSES];
	size_t request_count;
};

/*
 * Returns the size of a request without the data that it writes, from the protocol's
 * specification; 0 for an unknown opcode.
 */
static size_t head_bytes(uint8_t op)
{
	static const uint8_t with_arguments[] = {
		[SERPROG_R_BYTE] = 4,
		[SERPROG_R_NBYTES] = 7,
		[SERPROG_O_WRITEB] = 5,
		[SERPROG_O_WRITEN] = 7,
		[SERPROG_O_DELAY] = 5,
		[SERPROG_S_BUSTYPE] = 2,
		[SERPROG_O_SPIOP] = 7,
		[SERPROG_S_SPI_FREQ] = 5,
		[SERPROG_S_PIN_STATE] = 2,
		[SERPROG_S_SPI_CS] = 2,
		[SERPROG_S_SPI_MODE] = 2,
		[SERPROG_S_CS_MODE] = 2,
	};

	if (op > SERPROG_S_CS_MODE)
		return 0;
	return with_arguments[op] > 0 ? with_arguments[op] : 1;
}

/* Returns the size of the request at the start of @bytes, which hold at least its head. */
static size_t protocol_bytes(const uint8_t *bytes)
{
	size_t head = head_bytes(bytes[0]);

	if (bytes[0] == SERPROG_O_WRITEN || bytes[0] == SERPROG_O_SPIOP)
		return head + (bytes[1] | (size_t)bytes[2] << 8 | (size_t)bytes[3] << 16);
	return head > 0 ? head : 1;
}

static void check_request(const struct bench *bench, const uint8_t *bytes, size_t len,
	const struct serprog_request *request)
{
	struct serprog_request unused;

	FUZZ_CHECK(request->op == bytes[0] && request->bytes == bytes);
	FUZZ_CHECK(request->size_bytes <= len);
	FUZZ_CHECK(request->size_bytes <= serprog_request_bytes_max(&bench->limits));
	FUZZ_CHECK(request->size_bytes + request->skip_bytes == protocol_bytes(bytes));
	FUZZ_CHECK(!serprog_parse(bytes, request->size_bytes - 1, &bench->limits, &unused));
	if (request->oversized)
		FUZZ_CHECK(request->data == NULL || request->op == SERPROG_O_WRITEB);
	else if (request->data)
		FUZZ_CHECK(request->data + request->write_len == bytes + request->size_bytes);
}

/*
 * Checks an answer: a NAK alone, or an ACK with the requested bytes; SYNCNOP's is a NAK and an ACK.
 * A device with quirks may send less or more.
 */
static void check_reply(
	const struct bench *bench, const struct serprog_request *request, size_t len)
{
	static const struct device_quirks none;
	const uint8_t *reply = bench->reply;

	FUZZ_CHECK(len <= device_reply_bytes_max(&bench->limits));
	if (memcmp(&bench->device.options.link.quirks, &none, sizeof(none)) != 0)
		return;
	FUZZ_CHECK(len > 0);
	if (request->op == SERPROG_SYNCNOP) {
		FUZZ_CHECK(len == 2 && reply[0] == SERPROG_NAK && reply[1] == SERPROG_ACK);
		return;
	}
	FUZZ_CHECK(reply[0] == SERPROG_ACK || (reply[0] == SERPROG_NAK && len == 1));
	if (request->oversized || head_bytes(request->op) == 0)
		FUZZ_CHECK(reply[0] == SERPROG_NAK);
	else if (reply[0] == SERPROG_ACK && request->op >= SERPROG_O_INIT &&
		 request->op <= SERPROG_O_EXEC)
		FUZZ_CHECK(len == 1);
	else if (reply[0] == SERPROG_ACK && request->read_len > 0)
		FUZZ_CHECK(len == 1 + (size_t)request->read_len);
}

static void answer(struct bench *bench, const struct serprog_request *request)
{
	uint8_t pause = bench->pauses[bench->request_count++ % PAUSES];
	struct event event;
	size_t first = bench->events.count;
	size_t len;

	bench->clock.scripted_ns += UINT64_C(1) << pause % 34;
	len = device_answer(
		&bench->device, request, clock_now_ns(&bench->clock), bench->reply, &event);
	check_reply(bench, request, len);
	FUZZ_CHECK(bench->device.operations.len <= OPERATIONS_BYTES);
	events_stamp(&bench->events, first, &event);
	events_append(&bench->events, &event);
}

static void run(struct bench *bench, const uint8_t *bytes, size_t len)
{
	struct serprog_request request;

	while (serprog_parse(bytes, len, &bench->limits, &request)) {
		size_t taken;

		check_request(bench, bytes, len, &request);
		answer(bench, &request);
		taken = request.size_bytes + request.skip_bytes;
		if (taken >= len)
			return;
		bytes += taken;
		len -= taken;
	}
}

static void write_records(const struct bench *bench)
{
	struct run_facts facts = {
		.part = bench->chip.part,
		.corner = bench->chip.corner,
		.clock_name = "scripted",
	};
	struct run_end end = {.end_ns = bench->clock.last_ns, .clean = true};

	fuzz_write_records(&facts, &bench->events, &end);
}

static void run_on(struct bench *bench, struct fuzz_input *input, uint8_t options)
{
	size_t len;

	for (size_t i = 0; i < PAUSES; i++)
		bench->pauses[i] = fuzz_u8(input);
	len = input->left;
	run(bench, fuzz_bytes(input, &len), len);
	if (options & OPTION_RECORDS)
		write_records(bench);
}

/* Every device has limits of length, because requests of 16 MiB would take too long. */
static struct device_options device_options(uint8_t options)
{
	const size_t preset = options / (OPTION_LINK & -OPTION_LINK);
	struct link_model link = {0};

	if (preset > 0)
		link = link_presets[preset % link_preset_count].model;
	link.any_length = false;
	return (struct device_options){
		.native_delay = options & OPTION_NATIVE_DELAY || link.native_delay,
		.spi_wire_time = options & OPTION_SPI_WIRE_TIME,
		.link = link,
	};
}

static void bench_init(struct bench *bench, const struct device_options *options)
{
	clock_init_scripted(&bench->clock, 1);
	FUZZ_CHECK(events_init(&bench->events, 1) == 0);
	device_init(&bench->device, &bench->chip, &bench->clock, &bench->events, options);
	bench->limits = bench->device.limits;
	bench->reply = malloc(device_reply_bytes_max(&bench->limits));
	FUZZ_CHECK(bench->reply != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {.data = data, .left = size};
	const struct part *part = fuzz_part(&input);
	const struct corner corner = fuzz_corner(&input);
	const uint8_t choice = fuzz_u8(&input);
	const struct device_options options = device_options(choice);
	struct fuzz_chip_memory memory;
	struct bench bench = {0};

	fuzz_chip_memory_init(&memory, part);
	chip_init(&bench.chip, part, &corner, memory.memory);
	bench_init(&bench, &options);
	run_on(&bench, &input, choice);
	free(bench.reply);
	events_deinit(&bench.events);
	fuzz_chip_memory_deinit(&memory);
	return 0;
}
