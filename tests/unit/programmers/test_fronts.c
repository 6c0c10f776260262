/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dialogues (dialogue.h) with fronts: fronts/SUBJECT.txt.
 *
 *     front NAME [PART [N]]   the front of that name, with a new part at its longest times or none;
 *                             after N records the part is silent
 *     let NAME VALUE          a name for the values below
 *     AT w WINDOW PLACE SIZE VALUE   the program writes a register of a window
 *     AT r WINDOW PLACE SIZE [VALUE] it reads one; the machine's own register there has VALUE
 *     AT writes WINDOW OFFSET BYTE...   it writes bytes in a row, 1 ns apart
 *     AT reads WINDOW OFFSET N          it reads N bytes in the same way
 *     AT window WINDOW        prints its size, its longest access, and if it is shown
 *     AT out BYTE...          USB: bytes for the device
 *     AT times N BYTE...      USB: the same, N times
 *     AT in [N]               USB: prints what the device has, up to N bytes or one packet
 *     AT drain                USB: reads a packet every 20 ms until one is not full; prints how
 *                             many bytes that were
 *     AT ask TYPE NUMBER VALUE CHANNEL LEN   USB: a request to the device
 *     AT ready                USB: prints how long it is until the next packet
 *     AT reset                USB: the device is reset
 *     AT level PINS           the pins are set: s selected, c clock, d data; - none
 *     AT bits BIT...          bits pass, which take 2 us each
 *     AT bytes BYTE...        bytes pass, at the same speed; prints the part's bytes
 *     AT start STATE          the part's first command finds it in that state
 *     AT stick N              the part's Nth busy time and all later ones never end
 *     AT load ADDRESS BYTE... puts bytes into the array
 *     AT records              prints the bus's new records, with begin and end from now
 *
 * AT is +NS or -NS from the time of the line before, or `end`, `end-NS`, `end+NS`, where `end` is
 * the end of the part's last work. PLACE is OFFSET or INDEX:OFFSET. A value is hexadecimal or a
 * name; `+` between several makes their OR.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialogue.h"
#include "map_zeros.h"
#include "programmers/front.h"
#include "shared/number.h"

#define HALF_PERIOD_NS 1000
#define MS UINT64_C(1000000)
#define RECORDS_MAX 1000
#define NAMES_MAX 100
#define NAME_BYTES 24

struct bench {
	struct dialogue dialogue;
	const struct front *front;
	struct bus bus;
	struct bus *bus_or_none;
	void *device; /* the memory of a USB device */
	uint64_t now_ns;
	size_t printed_count; /* the records that are printed already */
	struct {
		char name[NAME_BYTES];
		uint64_t value;
	} names[NAMES_MAX];
	size_t name_count;
};

/* Returns the last value of the name, or else the hexadecimal number. */
static uint64_t value_of_name(const struct bench *bench, const char *name, size_t len)
{
	const char *end;
	uint64_t value;

	for (size_t i = bench->name_count; i-- > 0;) {
		if (strlen(bench->names[i].name) == len &&
			strncmp(bench->names[i].name, name, len) == 0)
			return bench->names[i].value;
	}
	if (number_begins(name, 16, UINT64_MAX, &end, &value) && end == name + len)
		return value;
	fprintf(stderr, "no value: %s\n", name);
	abort();
}

static uint64_t value_of(const struct bench *bench, const char *text)
{
	uint64_t value = 0;

	for (;; text++) {
		size_t len = strcspn(text, "+");

		value |= value_of_name(bench, text, len);
		text += len;
		if (*text == '\0')
			return value;
	}
}

static bool take_value(struct bench *bench, uint64_t *value)
{
	char *word = next_word();

	*value = word ? value_of(bench, word) : 0;
	return word != NULL;
}

static bool run_let(struct bench *bench)
{
	char *name = next_word();
	uint64_t value;

	if (!name || strlen(name) >= NAME_BYTES || bench->name_count == NAMES_MAX ||
		!take_value(bench, &value))
		return false;
	strcpy(bench->names[bench->name_count].name, name);
	bench->names[bench->name_count++].value = value;
	return true;
}

static bool put_on_bus(struct bench *bench, const struct part *part, uint64_t records_max)
{
	const struct bus_options options = {
		.part = part,
		.corner = {.kind = CORNER_MAX},
		.records_max = records_max,
	};

	/* The memory is kept until the program ends. */
	return bus_init(&bench->bus, &options, map_zeros(chip_memory_bytes(part))) == 0;
}

static bool run_front(struct bench *bench)
{
	char *name = next_word();
	char *part_name = next_word();
	const struct part *part = part_name ? part_find(part_name) : NULL;
	uint64_t records_max;

	if (!take_number(&records_max))
		records_max = RECORDS_MAX;
	if (bench->bus_or_none)
		bus_deinit(bench->bus_or_none);
	bench->bus_or_none = NULL;
	bench->front = name ? front_find(name) : NULL;
	if (!bench->front || (part_name && !part))
		return false;
	bench->now_ns = UINT64_C(1000000);
	bench->printed_count = 0;
	bench->bus_or_none = part ? &bench->bus : NULL;
	if (bench->front->usb) {
		bench->device = map_zeros(bench->front->usb->state_bytes);
		bench->front->usb->reset(bench->device);
	}
	return !part || put_on_bus(bench, part, records_max);
}

/* Reads WINDOW; returns NULL if there is none of that number. */
static const struct front_window *take_window(const struct bench *bench)
{
	uint64_t number;

	if (!take_number(&number) || number >= bench->front->window_count)
		return NULL;
	return &bench->front->windows[number];
}

/* Reads WINDOW PLACE SIZE. */
static const struct front_window *take_access(struct bench *bench, struct front_access *access)
{
	const struct front_window *window = take_window(bench);
	uint64_t size;
	char *place;
	char *colon;

	*access = (struct front_access){.now_ns = bench->now_ns};
	place = next_word();
	if (!window || !place || !take_number(&size))
		return NULL;
	colon = strchr(place, ':');
	if (colon) {
		*colon = '\0';
		access->index = value_of(bench, place);
		place = colon + 1;
	}
	access->offset = value_of(bench, place);
	access->size_bytes = (unsigned int)size;
	return window;
}

static bool run_write(struct bench *bench)
{
	struct front_access access;
	const struct front_window *window = take_access(bench, &access);
	uint64_t value;

	if (!window || !take_value(bench, &value))
		return false;
	front_write(window, bench->bus_or_none, &access, value);
	return true;
}

static bool run_read(struct bench *bench)
{
	struct front_access access;
	const struct front_window *window = take_access(bench, &access);

	if (!window)
		return false;
	(void)take_value(bench, &access.beneath);
	put(&bench->dialogue, "%llx",
		(unsigned long long)window->read(bench->bus_or_none, &access));
	return true;
}

static bool run_writes(struct bench *bench)
{
	const struct front_window *window = take_window(bench);
	struct front_access access = {.size_bytes = 1};
	struct transfer transfer;

	if (!window || !take_value(bench, &access.offset) || !take_transfer(&transfer))
		return false;
	for (size_t i = 0; i < transfer.len; i++, access.offset++) {
		access.now_ns = bench->now_ns++;
		front_write(window, bench->bus_or_none, &access, transfer.bytes[i]);
	}
	return true;
}

static bool run_reads(struct bench *bench)
{
	const struct front_window *window = take_window(bench);
	struct front_access access = {.size_bytes = 1};
	uint8_t bytes[DIALOGUE_BYTES_MAX];
	uint64_t len;

	if (!window || !take_value(bench, &access.offset) || !take_number(&len) ||
		len > sizeof(bytes))
		return false;
	for (uint64_t i = 0; i < len; i++, access.offset++) {
		access.now_ns = bench->now_ns++;
		bytes[i] = (uint8_t)window->read(bench->bus_or_none, &access);
	}
	put_bytes(&bench->dialogue, bytes, len);
	return true;
}

static bool run_window(struct bench *bench)
{
	const struct front_window *window = take_window(bench);

	if (!window)
		return false;
	put(&bench->dialogue, "%llx bytes, %u at a time, %s",
		(unsigned long long)window->size_bytes, window->access_bytes_max,
		!window->is_shown || window->is_shown(bench->bus_or_none) ? "shown" : "hidden");
	return true;
}

static bool send(struct bench *bench, uint64_t count)
{
	struct transfer transfer;
	int ret = 0;

	if (!take_transfer(&transfer))
		return false;
	for (; count > 0 && ret == 0; count--)
		ret = bench->front->usb->write(bench->device, bench->bus_or_none, bench->now_ns,
			transfer.bytes, transfer.len);
	if (ret == -EAGAIN)
		put(&bench->dialogue, "not yet");
	else if (ret < 0)
		put(&bench->dialogue, "refused");
	return transfer.len > 0;
}

static bool run_out(struct bench *bench)
{
	return send(bench, 1);
}

static bool run_out_times(struct bench *bench)
{
	uint64_t count;

	return take_number(&count) && send(bench, count);
}

static bool run_in(struct bench *bench)
{
	uint8_t bytes[DIALOGUE_BYTES_MAX];
	uint64_t room;
	size_t len;

	if (!take_number(&room))
		room = bench->front->usb->packet_bytes;
	len = bench->front->usb->read(
		bench->device, bench->bus_or_none, bench->now_ns, bytes, room);
	if (len == 0)
		put(&bench->dialogue, "nothing");
	put_bytes(&bench->dialogue, bytes, len);
	return true;
}

static bool run_drain(struct bench *bench)
{
	uint8_t bytes[DIALOGUE_BYTES_MAX];
	size_t total = 0;
	size_t len;

	do {
		bench->now_ns += 20 * MS;
		len = bench->front->usb->read(bench->device, bench->bus_or_none, bench->now_ns,
			bytes, bench->front->usb->packet_bytes);
		total += len;
	} while (len == bench->front->usb->packet_bytes);
	put(&bench->dialogue, "%zu", total);
	return true;
}

static bool run_ask(struct bench *bench)
{
	uint64_t words[5];
	struct front_request request;
	uint8_t bytes[DIALOGUE_BYTES_MAX];
	int len;

	for (size_t i = 0; i < 5; i++) {
		if (!take_value(bench, &words[i]))
			return false;
	}
	request = (struct front_request){
		.type = (uint8_t)words[0],
		.number = (uint8_t)words[1],
		.value = (uint16_t)words[2],
		.channel = (uint8_t)words[3],
		.len = words[4],
	};
	len = bench->front->usb->control(
		bench->device, bench->bus_or_none, bench->now_ns, &request, bytes);
	if (len < 0)
		put(&bench->dialogue, "refused");
	else
		put_bytes(&bench->dialogue, bytes, (size_t)len);
	return true;
}

static bool run_ready(struct bench *bench)
{
	uint64_t ready_ns = bench->front->usb->ready_ns(bench->device);

	if (ready_ns == UINT64_MAX)
		put(&bench->dialogue, "never");
	else
		put(&bench->dialogue, "+%llu", (unsigned long long)(ready_ns - bench->now_ns));
	return true;
}

static bool run_reset(struct bench *bench)
{
	bench->front->usb->reset(bench->device);
	return true;
}

static void store(struct bench *bench, size_t window, uint64_t offset, uint64_t value)
{
	const struct front_access access = {
		.now_ns = bench->now_ns, .offset = offset, .size_bytes = 1};

	front_write(&bench->front->windows[window], bench->bus_or_none, &access, value);
}

static uint64_t load(struct bench *bench, size_t window, uint64_t offset)
{
	const struct front_access access = {
		.now_ns = bench->now_ns, .offset = offset, .size_bytes = 1, .beneath = 0x58};

	return bench->front->windows[window].read(bench->bus_or_none, &access);
}

static bool is_butterfly(const struct bench *bench)
{
	return strcmp(bench->front->name, "butterfly") == 0;
}

/* Sets the registers as drivers do: the parallel port's, or FLA of the network card. */
static void set_levels(struct bench *bench, bool selected, bool clock, bool data)
{
	if (is_butterfly(bench)) {
		store(bench, 0, 0, 0x62u | (uint64_t)data << 7 | clock);
		store(bench, 0, 2, 0x04u | (uint64_t)selected << 3);
	} else {
		store(bench, 1, 0, 0x10u | (uint64_t)data << 2 | (uint64_t)!selected << 1 | clock);
	}
}

static bool reply_bit(struct bench *bench)
{
	return is_butterfly(bench) ? !(load(bench, 0, 1) & 0x80) : (load(bench, 1, 0) & 0x08) != 0;
}

/* Passes a bit. Returns the part's bit, which must stay the same while the clock is high. */
static bool pass_bit(struct bench *bench, bool bit)
{
	bool reply;

	set_levels(bench, true, false, bit);
	reply = reply_bit(bench);
	bench->now_ns += HALF_PERIOD_NS;
	set_levels(bench, true, true, bit);
	if (reply_bit(bench) != reply)
		put(&bench->dialogue, "changed");
	bench->now_ns += HALF_PERIOD_NS;
	return reply;
}

static bool run_level(struct bench *bench)
{
	const char *pins = next_word();

	if (!pins)
		return false;
	set_levels(bench, strchr(pins, 's'), strchr(pins, 'c'), strchr(pins, 'd'));
	return true;
}

static bool run_bits(struct bench *bench)
{
	struct transfer transfer;

	if (!take_transfer(&transfer))
		return false;
	for (size_t i = 0; i < transfer.len; i++)
		pass_bit(bench, transfer.bytes[i]);
	return transfer.len > 0;
}

static uint8_t pass_byte(struct bench *bench, uint8_t value)
{
	uint8_t reply = 0;

	for (int i = 7; i >= 0; i--)
		reply = (uint8_t)(reply << 1 | pass_bit(bench, value >> i & 1));
	return reply;
}

static bool run_bytes(struct bench *bench)
{
	struct transfer transfer;

	if (!take_transfer(&transfer))
		return false;
	for (size_t i = 0; i < transfer.len; i++)
		transfer.bytes[i] = pass_byte(bench, transfer.bytes[i]);
	put_bytes(&bench->dialogue, transfer.bytes, transfer.len);
	return transfer.len > 0;
}

static bool run_start(struct bench *bench)
{
	char *name = next_word();

	return name && start_state_parse(name, &bench->bus.start_state) == 0;
}

static bool run_stick(struct bench *bench)
{
	uint64_t nth;

	if (!take_number(&nth))
		return false;
	chip_stick_from(&bench->bus.chip, nth);
	return true;
}

static bool run_load(struct bench *bench)
{
	return load_array(&bench->bus.chip.array);
}

static void put_record(struct bench *bench, const struct event *event)
{
	put(&bench->dialogue, "/");
	if (event->kind == EVENT_STARTS || event->kind == EVENT_GAVE_UP)
		put(&bench->dialogue, "%s %s", event->kind == EVENT_STARTS ? "starts" : "gave up",
			event->name);
	if (event->bound > 0)
		put(&bench->dialogue, "after %llu", (unsigned long long)event->bound);
	put_facts(&bench->dialogue, &event->chip, bench->now_ns);
	if (event->write_len > 0)
		put(&bench->dialogue, "w=%u", (unsigned int)event->write_len);
	if (event->read_len > 0)
		put(&bench->dialogue, "r=%u", (unsigned int)event->read_len);
	put(&bench->dialogue, "%lld", (long long)(event->read_ns - bench->now_ns));
	if (event->kind == EVENT_SPI || event->kind == EVENT_CYCLE)
		put(&bench->dialogue, "to %lld", (long long)(event->reply_ns - bench->now_ns));
}

static bool run_records(struct bench *bench)
{
	bus_flush(&bench->bus);
	if (bench->printed_count == bench->bus.events.count)
		put(&bench->dialogue, "none");
	for (; bench->printed_count < bench->bus.events.count; bench->printed_count++)
		put_record(bench, events_at(&bench->bus.events, bench->printed_count));
	if (!bus_is_clean(&bench->bus))
		put(&bench->dialogue, "unclean");
	return true;
}

static const struct {
	const char *name;
	bool (*run)(struct bench *bench);
} verbs[] = {
	{"w", run_write},
	{"r", run_read},
	{"writes", run_writes},
	{"reads", run_reads},
	{"window", run_window},
	{"out", run_out},
	{"times", run_out_times},
	{"in", run_in},
	{"drain", run_drain},
	{"ask", run_ask},
	{"ready", run_ready},
	{"reset", run_reset},
	{"level", run_level},
	{"bits", run_bits},
	{"bytes", run_bytes},
	{"start", run_start},
	{"stick", run_stick},
	{"load", run_load},
	{"records", run_records},
};

static bool run_line(void *context, const char *first)
{
	struct bench *bench = context;
	char *verb;

	if (strcmp(first, "front") == 0)
		return run_front(bench);
	if (strcmp(first, "let") == 0)
		return run_let(bench);
	if (!bench->front || !take_time(first, bench->bus.chip.busy_until_ns, &bench->now_ns))
		return false;
	verb = next_word();
	for (size_t i = 0; verb && i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verb, verbs[i].name) == 0)
			return verbs[i].run(bench);
	}
	return false;
}

int main(int argc, char *argv[])
{
	static struct bench bench;

	return dialogue_main(argc, argv, &bench.dialogue, run_line, &bench);
}
