/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A programmer with a chip, without a connection: the test makes its requests and reads its
 * answers. Only the tests include this.
 */
#ifndef TESTS_UNIT_EMULATORS_DEVICE_FIXTURE_H
#define TESTS_UNIT_EMULATORS_DEVICE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "serprog/device.h"

struct fixture {
	void *memory;
	struct chip chip;
	struct clock clock;
	struct device device;
	struct events executed;
	struct event event;
	uint8_t reply[512];
	size_t reply_len;
};

static inline void fixture_init(
	struct fixture *fixture, const char *name, const struct device_options *options)
{
	const struct part *part = part_find(name);

	memset(fixture, 0, sizeof(*fixture));
	fixture->memory = calloc(1, chip_memory_bytes(part));
	chip_init(&fixture->chip, part, &(struct corner){.kind = CORNER_TYP}, fixture->memory);
	assert_int_equal(clock_init(&fixture->clock, CLOCK_SOURCE_MONOTONIC), 0);
	assert_int_equal(events_init(&fixture->executed, 1), 0);
	device_init(&fixture->device, &fixture->chip, &fixture->clock, &fixture->executed, options);
}

/* Sets *@state to a fixture with that part, at its typical times; for tables of tests. */
static inline int fixture_set_up(
	void **state, const char *name, const struct device_options *options)
{
	struct fixture *fixture = malloc(sizeof(*fixture));

	fixture_init(fixture, name, options);
	*state = fixture;
	return 0;
}

static inline int fixture_tear_down(void **state)
{
	struct fixture *fixture = *state;

	events_deinit(&fixture->executed);
	free(fixture->memory);
	free(fixture);
	return 0;
}

/* Defines set_up_@name(), for WITH(). Options of the device follow the part. */
#define SET_UP(name, part, ...)                                                                    \
	static int set_up_##name(void **state)                                                     \
	{                                                                                          \
		return fixture_set_up(state, part, &(struct device_options){__VA_ARGS__});         \
	}

#define WITH(name, test) cmocka_unit_test_setup_teardown(test, set_up_##name, fixture_tear_down)

static inline void ask(struct fixture *fixture, const uint8_t *bytes, size_t len)
{
	struct serprog_request request;

	assert_int_equal(
		serprog_parse(bytes, len, &fixture->device.limits, &request), SERPROG_PARSE_DONE);
	fixture->reply_len = device_answer(&fixture->device, &request,
		clock_now_ns(&fixture->clock), fixture->reply, &fixture->event);
}

static inline void ask_op(struct fixture *fixture, uint8_t op)
{
	ask(fixture, &op, 1);
}

static inline void assert_nak(const struct fixture *fixture)
{
	assert_int_equal(fixture->reply_len, 1);
	assert_int_equal(fixture->reply[0], SERPROG_NAK);
	assert_false(fixture->event.ack);
}

static inline bool offers(struct fixture *fixture, uint8_t op)
{
	ask_op(fixture, SERPROG_Q_CMDMAP);
	assert_int_equal(fixture->reply_len, 33);
	return fixture->reply[1 + op / 8] >> op % 8 & 1;
}

static inline void put_delay(struct fixture *fixture, uint16_t us)
{
	const uint8_t request[] = {0x0E, (uint8_t)us, (uint8_t)(us >> 8), 0, 0};

	ask(fixture, request, sizeof(request));
}

#endif
