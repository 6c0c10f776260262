/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK_BYTES (EVENTS_CHUNK_COUNT * sizeof(struct event))

static void merge_facts(struct chip_facts *all, const struct chip_facts *facts)
{
	struct chip_facts first = *all;

	*all = *facts;
	all->busy_left_ns = first.busy_left_ns;
	if (first.lost_power) {
		all->lost_power = true;
		all->lost_power_ns = first.lost_power_ns;
	}
	if (first.owed && !facts->owed) {
		all->owed = true;
		all->margin_ns = first.margin_ns;
		all->grade = first.grade;
	}
}

void event_add_cycle(struct event *command, const struct chip_facts *facts, uint64_t cycle_ns)
{
	if (command->write_len == 0)
		command->chip = *facts;
	else
		merge_facts(&command->chip, facts);
	command->write_len++;
	command->wire_ns += cycle_ns;
}

static int add_chunk(struct events *events)
{
	void *chunk;

	if (events->chunk_count == EVENTS_CHUNKS_MAX)
		return -ENOMEM;
	chunk = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk == MAP_FAILED)
		return -ENOMEM;
	events->chunks[events->chunk_count++] = chunk;
	return 0;
}

int events_init(struct events *events, size_t count)
{
	memset(events, 0, sizeof(*events));
	while (events->chunk_count * EVENTS_CHUNK_COUNT < count) {
		if (add_chunk(events) < 0) {
			events_deinit(events);
			return -ENOMEM;
		}
	}
	return 0;
}

void events_deinit(struct events *events)
{
	for (size_t i = 0; i < events->chunk_count; i++)
		munmap(events->chunks[i], CHUNK_BYTES);
	memset(events, 0, sizeof(*events));
}

static struct event *slot(const struct events *events, size_t index)
{
	return &events->chunks[index / EVENTS_CHUNK_COUNT][index % EVENTS_CHUNK_COUNT];
}

void events_append(struct events *events, const struct event *event)
{
	if (events->count == events->chunk_count * EVENTS_CHUNK_COUNT && add_chunk(events) < 0) {
		events->lost_count++;
		return;
	}
	*slot(events, events->count++) = *event;
}

void events_start_chip(
	struct events *events, struct chip *chip, enum start_state state, uint64_t now_ns)
{
	struct event event = {
		.kind = EVENT_STARTS,
		.name = start_state_name(state),
		.read_ns = now_ns,
	};

	chip_start_in(chip, state, now_ns, &event.chip);
	events_append(events, &event);
}

void events_stamp(struct events *events, size_t first, const struct event *request)
{
	for (size_t i = first; i < events->count; i++) {
		struct event *event = slot(events, i);

		if (event->kind != EVENT_CYCLE)
			continue;
		event->empty_ns = request->empty_ns;
		event->read_ns = request->read_ns;
		event->reply_ns = request->reply_ns;
	}
}

const struct event *events_at(const struct events *events, size_t index)
{
	assert(index < events->count);
	return slot(events, index);
}
