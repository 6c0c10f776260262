/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A bus with a part on it, and a time that the test advances. Only the tests include this. */
#ifndef TESTS_UNIT_PROGRAMMERS_BUS_FIXTURE_H
#define TESTS_UNIT_PROGRAMMERS_BUS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "programmers/bus.h"

#define RECORDS_MAX 1000

struct fixture {
	struct bus bus;
	void *memory;
	uint64_t now_ns;
};

static inline int put_on_bus(void **state, const char *name, uint64_t records_max)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const struct bus_options options = {
		.part = part_find(name),
		.corner = {.kind = CORNER_MAX},
		.records_max = records_max,
	};

	fixture->memory = calloc(1, chip_memory_bytes(options.part));
	fixture->now_ns = 1000000;
	*state = fixture;
	return bus_init(&fixture->bus, &options, fixture->memory);
}

static inline int take_off_bus(void **state)
{
	struct fixture *fixture = *state;

	bus_deinit(&fixture->bus);
	free(fixture->memory);
	free(fixture);
	return 0;
}

static inline void put(struct fixture *fixture, uint32_t address, uint8_t value)
{
	bus_write_cycle(&fixture->bus, fixture->now_ns++, address, value);
}

static inline uint8_t get(struct fixture *fixture, uint32_t address)
{
	return bus_read_cycle(&fixture->bus, fixture->now_ns++, address);
}

static inline void command(struct fixture *fixture, uint8_t value)
{
	put(fixture, 0x5555, 0xAA);
	put(fixture, 0x2AAA, 0x55);
	put(fixture, 0x5555, value);
}

/* Takes all records so far; none may be open. */
static inline size_t record_count(struct fixture *fixture)
{
	bus_flush(&fixture->bus);
	return fixture->bus.events.count;
}

static inline const struct event *record(const struct fixture *fixture, size_t index)
{
	return events_at(&fixture->bus.events, index);
}

#endif
