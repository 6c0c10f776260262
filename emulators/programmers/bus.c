/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus.h"

#include <string.h>

#define BUS_SILENT 0xFF
#define BOUND_NAME "records"

int bus_init(struct bus *bus, const struct bus_options *options, void *memory)
{
	memset(bus, 0, sizeof(*bus));
	chip_init(&bus->chip, options->part, &options->corner, memory);
	bus->chip.noise_seed ^= options->seed;
	bus->records_max = options->records_max;
	bus->start_state = options->start_state;
	return events_init(&bus->events, 1);
}

void bus_deinit(struct bus *bus)
{
	events_deinit(&bus->events);
}

bool bus_is_clean(const struct bus *bus)
{
	return bus->backward_count == 0 && bus->events.lost_count == 0;
}

void bus_flush(struct bus *bus)
{
	if (bus->open.write_len == 0 && bus->open.read_len == 0)
		return;
	events_append(&bus->events, &bus->open);
	bus->open = (struct event){.write_len = 0};
}

static void give_up(struct bus *bus, uint64_t now_ns)
{
	const struct event event = {
		.kind = EVENT_GAVE_UP,
		.name = BOUND_NAME,
		.bound = bus->records_max,
		.read_ns = now_ns,
	};

	bus_flush(bus);
	events_append(&bus->events, &event);
	bus->gave_up = true;
}

/*
 * Begins an access at *@now_ns. If the last access was later, counts a step back and sets *@now_ns
 * to the time of that access. The first access puts the chip into its start state. Returns false if
 * there are records_max records: then the chip no longer answers.
 */
static bool begin(struct bus *bus, uint64_t *now_ns)
{
	if (*now_ns < bus->last_ns) {
		bus->backward_count++;
		*now_ns = bus->last_ns;
	}
	bus->last_ns = *now_ns;
	if (bus->start_state != START_READY)
		events_start_chip(&bus->events, &bus->chip, bus->start_state, *now_ns);
	bus->start_state = START_READY;
	if (!bus->gave_up && bus->events.count >= bus->records_max)
		give_up(bus, *now_ns);
	return !bus->gave_up;
}

static void open_record(struct bus *bus, uint64_t now_ns)
{
	bus_flush(bus);
	bus->open = (struct event){
		.kind = EVENT_CYCLE, .empty_ns = now_ns, .read_ns = now_ns, .start_ns = now_ns};
}

/* Returns true if no fact of a read needs a separate record. */
static bool can_join(const struct chip_facts *facts)
{
	return facts->rule == CHIP_RULE_NONE && !facts->owed && !facts->lost_power;
}

static bool is_same_command(const struct chip_facts *a, const struct chip_facts *b)
{
	return a->name == b->name || strcmp(a->name, b->name) == 0;
}

/*
 * Returns true if a read joins the open record. Reads of consecutive addresses are one record, like
 * one read request to a serial programmer. Status reads at one address are one record too, because
 * a client that polls makes millions of them.
 */
static bool goes_on_reading(const struct bus *bus, uint32_t address, const struct chip_facts *facts)
{
	const struct event *open = &bus->open;
	bool is_poll = strcmp(facts->name, "STATUS") == 0;

	return open->read_len > 0 && open->read_len < UINT32_MAX &&
	       open->chip.rule == CHIP_RULE_NONE && can_join(facts) &&
	       is_same_command(&open->chip, facts) &&
	       address == bus->next_address - (is_poll ? 1 : 0);
}

uint8_t bus_read_cycle(struct bus *bus, uint64_t now_ns, uint32_t address)
{
	struct chip_facts facts;
	uint8_t value;

	if (!begin(bus, &now_ns))
		return BUS_SILENT;
	value = chip_read_cycle(&bus->chip, now_ns, now_ns, address, &facts);
	if (!goes_on_reading(bus, address, &facts)) {
		open_record(bus, now_ns);
		bus->open.chip = facts;
	}
	bus->open.chip.status = value;
	bus->open.read_len++;
	bus->open.reply_ns = now_ns;
	bus->next_address = address + 1;
	return value;
}

/* Returns true if the write loads one more byte of the page, which delays the part's program. */
static bool is_of_page(const struct bus *bus, const struct chip_facts *facts)
{
	const struct chip_facts *before = &bus->open.chip;

	return facts->work == CHIP_WORK_PROGRAM && before->work == CHIP_WORK_PROGRAM &&
	       facts->address == before->address && is_same_command(before, facts);
}

static bool goes_on_writing(const struct bus *bus, const struct chip_facts *facts)
{
	const struct event *open = &bus->open;

	if (open->write_len == 0 || open->chip.rule != CHIP_RULE_NONE ||
		facts->rule != CHIP_RULE_NONE)
		return false;
	return open->chip.partial || is_of_page(bus, facts);
}

void bus_write_cycle(struct bus *bus, uint64_t now_ns, uint32_t address, uint8_t value)
{
	struct chip_facts facts;

	if (!begin(bus, &now_ns))
		return;
	chip_write_cycle(&bus->chip, now_ns, now_ns, address, value, &facts);
	if (!goes_on_writing(bus, &facts))
		open_record(bus, now_ns);
	event_add_cycle(&bus->open, &facts, 0);
	bus->open.reply_ns = now_ns;
}

void bus_transfer(struct bus *bus, const struct chip_transfer *transfer)
{
	struct chip_transfer sent = *transfer;
	struct event event = {.kind = EVENT_SPI};

	if (!begin(bus, &sent.start_ns)) {
		if (sent.reply_len > 0)
			memset(sent.reply, BUS_SILENT, sent.reply_len);
		return;
	}
	if (sent.end_ns < sent.start_ns)
		sent.end_ns = sent.start_ns;
	chip_transfer(&bus->chip, &sent, &event.chip);
	bus->last_ns = sent.end_ns;
	event.write_len = (uint32_t)sent.command_len;
	event.read_len = (uint32_t)sent.reply_len;
	event.empty_ns = sent.start_ns;
	event.read_ns = sent.start_ns;
	event.reply_ns = sent.end_ns;
	event.wire_ns = sent.end_ns - sent.start_ns;
	bus_flush(bus);
	events_append(&bus->events, &event);
}

void bus_select(struct bus *bus, uint64_t now_ns)
{
	if (bus->selected || !bus->chip.part->spi || !begin(bus, &now_ns))
		return;
	chip_select(&bus->chip, now_ns);
	bus->selected = true;
	bus->open = (struct event){.kind = EVENT_SPI, .empty_ns = now_ns, .read_ns = now_ns};
}

uint8_t bus_exchange(struct bus *bus, uint64_t now_ns, uint8_t value)
{
	if (!bus->selected || !begin(bus, &now_ns))
		return BUS_SILENT;
	bus->open.wire_ns = now_ns - bus->open.read_ns;
	return chip_exchange(&bus->chip, now_ns, value);
}

uint8_t bus_preview(struct bus *bus, uint64_t now_ns)
{
	if (!bus->selected || !begin(bus, &now_ns))
		return BUS_SILENT;
	return chip_preview(&bus->chip, now_ns);
}

void bus_cut_short(struct bus *bus)
{
	if (bus->selected)
		chip_cut_short(&bus->chip);
}

static uint32_t bounded(size_t len)
{
	return len < UINT32_MAX ? (uint32_t)len : UINT32_MAX;
}

void bus_deselect(struct bus *bus, uint64_t now_ns)
{
	struct event event = bus->open;
	size_t passed_len, reply_len;

	if (!bus->selected || !begin(bus, &now_ns))
		return;
	bus->selected = false;
	passed_len = chip_passed_len(&bus->chip, &reply_len);
	event.write_len = bounded(passed_len - reply_len);
	event.read_len = bounded(reply_len);
	event.reply_ns = now_ns;
	if (chip_deselect(&bus->chip, now_ns, &event.chip))
		events_append(&bus->events, &event);
}
