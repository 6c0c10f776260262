/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plays dialogues (dialogue.h) with a programmer, without a connection: device/SUBJECT.txt.
 *
 *     chip NAME [native-delay] [wire-time] [link=TEXT]   a new programmer with a part, erased
 *     BYTE...                 a request of serprog, and the whole answer
 *     put ADDRESS BYTE...     O_WRITEB for each byte
 *     cmd CODE                O_WRITEB for AAh, 55h and CODE at the addresses of commands
 *     repeat N BYTE...        the request N times, and the last answer
 *     offered                 the opcodes in the command map
 *     others                  sends each opcode outside the map with 15 zeros; counts the answers
 *     parse BYTE...           parses the bytes as a request, which is not run
 *     reconnect               another client connects
 *     load ADDRESS BYTE...    puts bytes into the array
 *     see ADDRESS N           bytes of the array once the part is ready
 *
 * Only waits take time. The reaction has the answer or `silent`, then `refused` or the facts of a
 * transfer, and the time that passed (+NS). After each `/` comes the record of what was executed:
 * its facts, and when it began (at=) and its work ends (until=), in ns since the programmer began.
 */
#include <stdlib.h>
#include <string.h>

#include "dialogue.h"
#include "map_zeros.h"
#include "serprog/device.h"

struct bench {
	struct dialogue dialogue;
	void *memory;
	struct chip chip;
	struct clock clock;
	struct events executed;
	size_t printed_count; /* the records that have been printed */
	struct device device;
	struct event event;
	uint8_t reply[DIALOGUE_BYTES_MAX];
	size_t reply_len;
};

static bool take_option(const char *word, struct device_options *options)
{
	if (strcmp(word, "native-delay") == 0)
		options->native_delay = true;
	else if (strcmp(word, "wire-time") == 0)
		options->spi_wire_time = true;
	else
		return strncmp(word, "link=", 5) == 0 &&
		       link_model_parse(word + 5, &options->link) == 0;
	return true;
}

static bool run_chip(struct bench *bench)
{
	struct device_options options = {.native_delay = false};
	char *name = next_word();
	const struct part *part = name ? part_find(name) : NULL;

	if (!part)
		return false;
	for (char *word = next_word(); word; word = next_word()) {
		if (!take_option(word, &options))
			return false;
	}
	if (bench->memory)
		events_deinit(&bench->executed);
	bench->memory = map_zeros(chip_memory_bytes(part)); /* kept until the program ends */
	chip_init(&bench->chip, part, &(struct corner){.kind = CORNER_TYP}, bench->memory);
	clock_init_scripted(&bench->clock, 1);
	bench->printed_count = 0;
	if (events_init(&bench->executed, 1) < 0)
		return false;
	device_init(&bench->device, &bench->chip, &bench->clock, &bench->executed, &options);
	return true;
}

static bool ask(struct bench *bench, const uint8_t *bytes, size_t len)
{
	struct serprog_request request;

	if (!serprog_parse(bytes, len, &bench->device.limits, &request))
		return false;
	bench->reply_len = device_answer(
		&bench->device, &request, clock_now_ns(&bench->clock), bench->reply, &bench->event);
	return true;
}

static void put_record(struct bench *bench, const struct event *event)
{
	put_facts(&bench->dialogue, &event->chip, clock_now_ns(&bench->clock));
	if (event->write_len > 0)
		put(&bench->dialogue, "w=%u", (unsigned int)event->write_len);
	if (event->read_len > 0)
		put(&bench->dialogue, "r=%u", (unsigned int)event->read_len);
	if (event->wire_ns > 0)
		put(&bench->dialogue, "wire=%llu", (unsigned long long)event->wire_ns);
	if (event->executed)
		put(&bench->dialogue, "at=%llu",
			(unsigned long long)(event->start_ns - CLOCK_SCRIPTED_START_NS));
	if (event->executed && event->chip.work != CHIP_WORK_NONE)
		put(&bench->dialogue, "until=%llu",
			(unsigned long long)(event->chip.busy_until_ns - CLOCK_SCRIPTED_START_NS));
}

static void put_answer(struct bench *bench, uint64_t passed_ns)
{
	const struct event *event = &bench->event;

	put_bytes(&bench->dialogue, bench->reply, bench->reply_len);
	if (bench->reply_len == 0)
		put(&bench->dialogue, "silent");
	if (event->kind != EVENT_SERPROG)
		put_record(bench, event);
	else if (!event->ack)
		put(&bench->dialogue, "refused");
	if (passed_ns > 0)
		put(&bench->dialogue, "+%llu", (unsigned long long)passed_ns);
	for (; bench->printed_count < bench->executed.count; bench->printed_count++) {
		put(&bench->dialogue, "/");
		put_record(bench, events_at(&bench->executed, bench->printed_count));
	}
}

static bool ask_and_put(struct bench *bench, const uint8_t *bytes, size_t len)
{
	uint64_t start_ns = clock_now_ns(&bench->clock);

	if (!ask(bench, bytes, len))
		return false;
	put_answer(bench, clock_now_ns(&bench->clock) - start_ns);
	return true;
}

static bool put_byte(struct bench *bench, uint32_t address, uint8_t value)
{
	const uint8_t request[] = {SERPROG_O_WRITEB, (uint8_t)address, (uint8_t)(address >> 8),
		(uint8_t)(address >> 16), value};

	return ask_and_put(bench, request, sizeof(request));
}

static bool run_put(struct bench *bench)
{
	struct transfer transfer;
	uint32_t address;

	if (!take_address(&address) || !take_transfer(&transfer))
		return false;
	for (size_t i = 0; i < transfer.len; i++) {
		if (!put_byte(bench, address + (uint32_t)i, transfer.bytes[i]))
			return false;
	}
	return transfer.len > 0;
}

static bool run_command(struct bench *bench)
{
	uint32_t code;

	return take_address(&code) && put_byte(bench, 0x5555, 0xAA) &&
	       put_byte(bench, 0x2AAA, 0x55) && put_byte(bench, 0x5555, (uint8_t)code);
}

static bool run_repeated(struct bench *bench)
{
	struct transfer transfer;
	uint64_t count;

	if (!take_number(&count) || !take_transfer(&transfer))
		return false;
	for (; count > 1; count--) {
		if (!ask(bench, transfer.bytes, transfer.len) || !bench->event.ack)
			return false;
	}
	return ask_and_put(bench, transfer.bytes, transfer.len);
}

/* Asks for the command map; @map has 256 bits. */
static bool ask_map(struct bench *bench, uint8_t map[32])
{
	if (!ask(bench, &(uint8_t){SERPROG_Q_CMDMAP}, 1) || bench->reply_len != 33)
		return false;
	memcpy(map, bench->reply + 1, 32);
	return true;
}

static bool run_offered(struct bench *bench)
{
	uint8_t map[32];

	if (!ask_map(bench, map))
		return false;
	for (unsigned int op = 0; op < 256; op++) {
		if (map[op / 8] >> op % 8 & 1)
			put(&bench->dialogue, "%02x", op);
	}
	return true;
}

static bool run_others(struct bench *bench)
{
	size_t refused_count = 0;
	size_t silent_count = 0;
	uint8_t map[32];

	if (!ask_map(bench, map))
		return false;
	for (unsigned int op = 0; op < 256; op++) {
		if (map[op / 8] >> op % 8 & 1)
			continue;
		if (!ask(bench, (uint8_t[16]){(uint8_t)op}, 16) || bench->event.ack)
			return false;
		silent_count += bench->reply_len == 0;
		refused_count += bench->reply_len == 1 && bench->reply[0] == SERPROG_NAK;
	}
	put(&bench->dialogue, "%zu refused, %zu silent", refused_count, silent_count);
	return true;
}

/* Appends the fields that are not zero. */
static void put_request(struct dialogue *dialogue, const struct serprog_request *request)
{
	if (request->value > 0)
		put(dialogue, "value=%x", (unsigned int)request->value);
	if (request->address > 0)
		put(dialogue, "@%x", (unsigned int)request->address);
	if (request->read_len > 0)
		put(dialogue, "r=%u", (unsigned int)request->read_len);
	if (request->write_len > 0)
		put(dialogue, "w=%u", (unsigned int)request->write_len);
	if (request->oversized)
		put(dialogue, "oversized, skips %u", (unsigned int)request->skip_bytes);
	else
		put_bytes(dialogue, request->data, request->write_len);
}

/*
 * Parses the bytes with limits of 16 for a write and 32 for a read. Returns false if they are no
 * complete request, or if the parser ends or changes @request before it has the last byte.
 */
static bool run_parse(struct bench *bench)
{
	static const struct serprog_limits limits = {.write_len_max = 16, .read_len_max = 32};
	struct serprog_request request = {.op = 0xEE};
	struct transfer transfer;
	size_t len = 0;

	if (!take_transfer(&transfer))
		return false;
	while (!serprog_parse(transfer.bytes, len, &limits, &request)) {
		if (request.op != 0xEE || len++ == transfer.len)
			return false;
	}
	if (!serprog_parse(transfer.bytes, transfer.len, &limits, &request))
		return false;
	put(&bench->dialogue, "%s %zu bytes", serprog_name(request.op), len);
	put_request(&bench->dialogue, &request);
	return request.size_bytes == len && request.bytes == transfer.bytes &&
	       len <= serprog_request_bytes_max(&limits);
}

static bool run_reconnect(struct bench *bench)
{
	device_reconnect(&bench->device);
	return true;
}

static bool run_load(struct bench *bench)
{
	return load_array(&bench->chip.array);
}

static bool run_see(struct bench *bench)
{
	uint8_t bytes[DIALOGUE_BYTES_MAX];
	uint32_t address;
	size_t len;

	if (!take_range(&address, &len))
		return false;
	chip_settle(&bench->chip, UINT64_MAX);
	array_read(&bench->chip.array, address, bytes, len);
	put_bytes(&bench->dialogue, bytes, len);
	return true;
}

static const struct {
	const char *name;
	bool (*run)(struct bench *bench);
} verbs[] = {
	{"put", run_put},
	{"cmd", run_command},
	{"repeat", run_repeated},
	{"offered", run_offered},
	{"others", run_others},
	{"parse", run_parse},
	{"reconnect", run_reconnect},
	{"load", run_load},
	{"see", run_see},
};

static bool run_request(struct bench *bench, const char *first)
{
	struct transfer transfer;

	return transfer_parse(first, &transfer) && ask_and_put(bench, transfer.bytes, transfer.len);
}

static bool run_line(void *context, const char *first)
{
	struct bench *bench = context;

	if (strcmp(first, "chip") == 0)
		return run_chip(bench);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(first, verbs[i].name) == 0)
			return verbs[i].run(bench);
	}
	return bench->memory && run_request(bench, first);
}

int main(int argc, char *argv[])
{
	static struct bench bench;

	return dialogue_main(argc, argv, &bench.dialogue, run_line, &bench);
}
