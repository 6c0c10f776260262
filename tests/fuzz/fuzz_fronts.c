/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes the registers of programmers: a hostile guest makes any access at any time.
 *
 * An input is the part, the corner, the limit of records, and the accesses; it runs on each front.
 * No record may be lost, and accesses beyond the limit must add none.
 */
#include <stdlib.h>
#include <string.h>

#include "chip_memory.h"
#include "programmers/front.h"
#include "records.h"

#define KINDS 4

static const struct target {
	const char *front;
	bool is_spi;          /* the bus of its parts */
	uint8_t kinds[KINDS]; /* valid first bytes of packets, which random input hardly ever has */
} targets[] = {
	{"nicintel", false, {0}},
	{"ich9", true, {0}},
	{"ch341a", true, {0xA8, 0xAB, 0xA8, 0xAA}},
	{"amd8111", false, {0}},
	{"ft2232", true, {0x80, 0x31, 0x11, 0x20}},
	{"butterfly", true, {0}},
	{"nicintel_spi", true, {0}},
};

#define INDEX_OF_BRIDGE 0x80000800 /* CONFIG_OF_BRIDGE of amd8111.c */
#define TARGETS (sizeof(targets) / sizeof(targets[0]))
#define TRANSFER_BYTES_MAX 256

struct bench {
	const struct front *front;
	const uint8_t *kinds;
	struct bus bus;
	void *usb_state; /* the memory of a front on USB */
	uint64_t now_ns;
};

/* Advances the time by 2 ns to 8.6 s, or not at all. */
static void let_time_pass(struct bench *bench, uint8_t choice)
{
	bench->now_ns += choice % 2 == 0 ? 0 : UINT64_C(1) << choice % 34;
}

static unsigned int access_bytes(const struct front_window *window, uint8_t choice)
{
	const unsigned int bytes = 1U << choice % 3;

	return bytes < window->access_bytes_max ? bytes : window->access_bytes_max;
}

static uint64_t value_of(struct fuzz_input *input, unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)fuzz_u8(input) << 8 * i;
	return value;
}

static void write_usb(struct bench *bench, struct fuzz_input *input)
{
	size_t len = 1u + fuzz_u8(input);
	uint8_t *transfer = malloc(TRANSFER_BYTES_MAX);
	const uint8_t *bytes = fuzz_bytes(input, &len);

	memcpy(transfer, bytes, len);
	for (size_t at = 0; at < len; at += bench->front->usb->packet_bytes)
		transfer[at] =
			transfer[at] < 0xF0 ? bench->kinds[transfer[at] % KINDS] : transfer[at];
	bench->front->usb->write(bench->usb_state, &bench->bus, bench->now_ns, transfer, len);
	free(transfer);
}

static void read_usb(struct bench *bench, struct fuzz_input *input)
{
	size_t room = fuzz_u8(input);
	uint8_t *bytes = malloc(room + 1);
	size_t len =
		bench->front->usb->read(bench->usb_state, &bench->bus, bench->now_ns, bytes, room);

	FUZZ_CHECK(len <= room);
	FUZZ_CHECK(bench->front->usb->ready_ns(bench->usb_state) > 0);
	free(bytes);
}

static void request_usb(struct bench *bench, struct fuzz_input *input)
{
	const uint8_t type = fuzz_u8(input);
	const uint8_t number = fuzz_u8(input);
	const uint8_t high = fuzz_u8(input);
	const uint8_t low = fuzz_u8(input);
	const struct front_request request = {
		.type = type & 1 ? 0x40 : 0xC0,
		.number = number % 16,
		.value = (uint16_t)(high % 4 << 8 | low),
		.channel = 1,
		.len = fuzz_u8(input) % 4,
	};
	uint8_t *bytes = malloc(request.len + 1);

	if (bench->front->usb->control)
		FUZZ_CHECK(bench->front->usb->control(bench->usb_state, &bench->bus, bench->now_ns,
				   &request, bytes) <= (int)request.len);
	free(bytes);
}

/* Starts the command processor of an FT2232H, without which it ignores all commands. */
static void enable_ft2232(struct bench *bench)
{
	const struct front_request request = {
		.type = 0x40, .number = 11, .value = 0x0200, .channel = 1};

	if (bench->front->usb->control)
		bench->front->usb->control(
			bench->usb_state, &bench->bus, bench->now_ns, &request, NULL);
}

static void use_usb(struct bench *bench, struct fuzz_input *input)
{
	const uint8_t choice = fuzz_u8(input);

	let_time_pass(bench, fuzz_u8(input));
	if (choice == 0xFF)
		bench->front->usb->reset(bench->usb_state);
	else if (choice >= 0xF0)
		request_usb(bench, input);
	else if (choice & 1)
		read_usb(bench, input);
	else
		write_usb(bench, input);
}

static void access_once(struct bench *bench, struct fuzz_input *input)
{
	const uint8_t choice = fuzz_u8(input);
	const struct front_window *window =
		&bench->front->windows[(choice >> 4) % bench->front->window_count];
	struct front_access access = {
		.offset = fuzz_u24(input) % window->size_bytes,
		.size_bytes = access_bytes(window, choice >> 1),
	};

	/* QEMU passes no access that reaches beyond a region. */
	if (access.offset > window->size_bytes - access.size_bytes)
		access.offset = window->size_bytes - access.size_bytes;
	let_time_pass(bench, fuzz_u8(input));
	access.now_ns = bench->now_ns;
	if (window->index_region)
		access.index = INDEX_OF_BRIDGE | (choice & 0x40);
	if (choice & 1)
		front_write(window, &bench->bus, &access, value_of(input, access.size_bytes));
	else
		FUZZ_CHECK(window->read(&bench->bus, &access) >> 8 * access.size_bytes == 0);
}

static void write_records(struct bench *bench)
{
	struct run_facts facts = {
		.part = bench->bus.chip.part,
		.corner = bench->bus.chip.corner,
		.clock_name = "virtual",
	};
	struct run_end end = {.end_ns = bench->now_ns, .clean = bus_is_clean(&bench->bus)};

	bus_flush(&bench->bus);
	FUZZ_CHECK(end.clean);
	FUZZ_CHECK(bench->bus.events.count <= bench->bus.records_max + 2);
	fuzz_write_records(&facts, &bench->bus.events, &end);
}

/* Returns a part with the interface that the front needs. */
static const struct part *part_of(const struct target *target, struct fuzz_input *input)
{
	size_t index = fuzz_u8(input) % part_table_count;

	while (target->is_spi == (part_table[index].parallel != NULL))
		index = (index + 1) % part_table_count;
	return &part_table[index];
}

static void play(const struct target *target, struct fuzz_input input)
{
	struct bench bench = {
		.front = front_find(target->front), .kinds = target->kinds, .now_ns = 1};
	struct bus_options options = {.part = part_of(target, &input)};
	struct fuzz_chip_memory memory;

	options.corner = fuzz_corner(&input);
	options.records_max = 1 + (uint64_t)fuzz_u8(&input);
	fuzz_chip_memory_init(&memory, options.part);
	FUZZ_CHECK(bus_init(&bench.bus, &options, memory.memory) == 0);
	if (bench.front->usb) {
		bench.usb_state = calloc(1, bench.front->usb->state_bytes);
		bench.front->usb->reset(bench.usb_state);
		enable_ft2232(&bench);
	}
	while (input.left > 0)
		(bench.front->usb ? use_usb : access_once)(&bench, &input);
	write_records(&bench);
	free(bench.usb_state);
	bus_deinit(&bench.bus);
	fuzz_chip_memory_deinit(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fuzz_input input = {.data = data, .left = size};

	for (size_t i = 0; i < TARGETS; i++)
		play(&targets[i], input);
	return 0;
}
