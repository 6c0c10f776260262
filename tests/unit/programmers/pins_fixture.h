/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part whose pins a program sets by registers of a front. Only tests include this. */
#ifndef TESTS_UNIT_PROGRAMMERS_PINS_FIXTURE_H
#define TESTS_UNIT_PROGRAMMERS_PINS_FIXTURE_H

#include "bus_fixture.h"

#include "programmers/front.h"

#define HALF_PERIOD_NS UINT64_C(1000)

/* How a front's registers are set, and how its reply is read; each takes its time from there. */
struct pins_of_front {
	void (*set)(struct fixture *fixture, const struct spi_levels *levels);
	bool (*reply)(struct fixture *fixture);
};

/* Returns the bit that is there before the clock rises. */
static inline bool pass_bit(const struct pins_of_front *front, struct fixture *fixture, bool bit)
{
	bool reply;

	front->set(fixture, &(struct spi_levels){.selected = true, .data = bit});
	reply = front->reply(fixture);
	fixture->now_ns += HALF_PERIOD_NS;
	front->set(fixture, &(struct spi_levels){.selected = true, .clock = true, .data = bit});
	assert_int_equal(front->reply(fixture), reply);
	fixture->now_ns += HALF_PERIOD_NS;
	return reply;
}

static inline uint8_t pass_byte(
	const struct pins_of_front *front, struct fixture *fixture, uint8_t value)
{
	uint8_t reply = 0;

	for (int i = 7; i >= 0; i--)
		reply = (uint8_t)(reply << 1 | pass_bit(front, fixture, value >> i & 1));
	return reply;
}

static inline void pass_bytes(
	const struct pins_of_front *front, struct fixture *fixture, uint8_t *bytes, size_t len)
{
	front->set(fixture, &(struct spi_levels){.selected = true});
	for (size_t i = 0; i < len; i++)
		bytes[i] = pass_byte(front, fixture, bytes[i]);
	front->set(fixture, &(struct spi_levels){.selected = true});
	front->set(fixture, &(struct spi_levels){.selected = false});
}

static inline void assert_id_is_read(const struct pins_of_front *front, struct fixture *fixture)
{
	uint8_t bytes[] = {0x9F, 0, 0, 0};

	pass_bytes(front, fixture, bytes, sizeof(bytes));
	assert_memory_equal(bytes, "\xFF\xEF\x40\x18", sizeof(bytes));
	assert_int_equal(record_count(fixture), 1);
	assert_int_equal(record(fixture, 0)->write_len, 1);
	assert_int_equal(record(fixture, 0)->read_len, 3);
	assert_true(bus_is_clean(&fixture->bus));
}

#endif
