/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-emu as it ships, over a real socket: its part, as clients and readers of events see it.
 * Its path is the first argument.
 */
#include <stdlib.h>
#include <string.h>

#include "served.h"

static void written_bytes_are_read_back_and_stand_in_the_image(void **state)
{
	struct served *served = *state;
	const char *extra[] = {"--corner", "min", "--image-out-sparse", served->image, NULL};
	uint8_t reply[4];
	char *image;

	served_start(served, extra);
	served_spi(served, (const uint8_t *)"\x06", 1, reply, 0);
	served_spi(served,
		(const uint8_t *)"\x02\x00\x10\x00"
				 "flash",
		9, reply, 0);
	served_wait_until_ready(served);
	served_spi(served, (const uint8_t *)"\x03\x00\x10\x01", 4, reply, 4);
	assert_memory_equal(reply, "lash", 4);
	served_end(served);
	image = file_text(served->image);
	assert_memory_equal(image, "\x00\x10\0\0\0\0\0\0flash", 13);
	free(image);
}

static void early_read_is_recorded_with_a_negative_margin(void **state)
{
	static const char *const extra[] = {"--corner", "max", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	served_start(served, extra);
	served_spi(served, (const uint8_t *)"\x06", 1, reply, 0);
	served_spi(served, (const uint8_t *)"\x20\x00\x10\x00", 4, reply, 0); /* 400 ms */
	served_spi(served, (const uint8_t *)"\x03\x00\x10\x00", 4, reply, 1);
	assert_int_equal(reply[0], 0xFF);
	events = served_end_with_events(served);
	assert_int_equal(count_of(events, "\"violation\":\"busy\",\"margin_ns\":-"), 1);
	assert_int_equal(count_of(events, "\"ev\":\"busy\",\"kind\":\"erase\""), 1);
	assert_int_equal(count_of(events, "\"violations\":1,\"faults\":0,\"clean\":true}"), 1);
	free(events);
}

static void part_that_loses_power_answers_no_more_and_leaves_a_half_done(void **state)
{
	static const char *const extra[] = {"--power-cut=1,0", "--seed=3", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	served_start(served, extra);
	served_spi(served, (const uint8_t *)"\x06", 1, reply, 0);
	served_spi(served, (const uint8_t *)"\x20\x00\x10\x00", 4, reply, 0);
	served_spi(served, (const uint8_t *)"\x05", 1, reply, 1);
	assert_int_equal(reply[0], 0xFF);
	events = served_end_with_events(served);
	assert_int_equal(count_of(events, "{\"ev\":\"power_cut\",\"t_ns\":"), 1);
	assert_int_equal(count_of(events, "\"name\":\"OFF\""), 1);
	assert_int_equal(count_of(events, "\"violations\":0,"), 1);
	free(events);
}

/* Sends a byte program of a parallel part as a whole before it reads the first reply. */
static void program_byte(struct served *served, uint8_t address, uint8_t value)
{
	const uint8_t requests[] = {
		0x0C,
		0x55,
		0x55,
		0x00,
		0xAA, /* O_WRITEB */
		0x0C,
		0xAA,
		0x2A,
		0x00,
		0x55, /* O_WRITEB */
		0x0C,
		0x55,
		0x55,
		0x00,
		0xA0, /* O_WRITEB */
		0x0D,
		1,
		0,
		0,
		address,
		0x00,
		0x00, /* O_WRITEN */
		value,
		0x0F, /* O_EXEC */
	};
	uint8_t acks[5];

	served_ask(served, requests, sizeof(requests), acks, sizeof(acks));
	assert_memory_equal(acks, "\x06\x06\x06\x06\x06", 5);
}

static void parallel_part_is_programmed_and_read_over_its_own_bus(void **state)
{
	static const char *const extra[] = {"--chip", "SST39SF040", NULL};
	struct served *served = *state;
	uint8_t reply[4];
	char *events;

	served_start(served, extra);
	served_ask(served, "\x05", 1, reply, 2);
	assert_memory_equal(reply, "\x06\x01", 2);
	served_ask(served, "\x13\x01\x00\x00\x03\x00\x00\x9F", 8, reply, 1);
	assert_int_equal(reply[0], 0x15);
	program_byte(served, 0x10, 0x5A);
	do
		served_ask(served, "\x09\x10\x00\x00", 4, reply, 2);
	while (reply[1] != 0x5A);
	served_ask(served, "\x0A\x0F\x00\x00\x03\x00\x00", 7, reply, 4);
	assert_memory_equal(reply, "\x06\xFF\x5A\xFF", 4);
	events = served_end_with_events(served);
	assert_int_equal(count_of(events, "\"ev\":\"cycle\",\"op\":\"0xa0\""), 1);
	assert_int_equal(count_of(events, "\"ev\":\"busy\",\"kind\":\"program\""), 1);
	assert_int_equal(count_of(events, "\"violations\":0,\"faults\":0,\"clean\":true}"), 1);
	free(events);
}

static void write_of_too_many_bytes_leaves_the_stream_in_step(void **state)
{
	static const char *const extra[] = {"--chip", "SST39SF040", NULL};
	struct served *served = *state;
	uint8_t request[7 + 4090] = {0x0D, 0xFA, 0x0F};
	uint8_t reply[2];

	served_start(served, extra);
	memset(request + 7, 0x0F, 4090); /* each would be an O_EXEC if it were read as a request */
	served_ask(served, request, sizeof(request), reply, 1);
	assert_int_equal(reply[0], 0x15);
	served_ask(served, "\x10", 1, reply, 2);
	assert_memory_equal(reply, "\x15\x06", 2);
	served_end(served);
}

static void chip_keeps_its_content_from_host_to_host(void **state)
{
	static const char *const extra[] = {"--clients", "2", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	served_start(served, extra);
	served_spi(served, (const uint8_t *)"\x06", 1, reply, 0);
	served_spi(served, (const uint8_t *)"\x02\x00\x00\x00\x42", 5, reply, 0);
	served_wait_until_ready(served);
	served_disconnect(served);
	served_connect(served);
	served_spi(served, (const uint8_t *)"\x03\x00\x00\x00", 4, reply, 1);
	assert_int_equal(reply[0], 0x42);
	events = served_end_with_events(served);
	assert_int_equal(count_of(events, "\"ev\":\"accept\""), 2);
	assert_int_equal(count_of(events, "\"ev\":\"disconnect\""), 2);
	free(events);
}

/* Returns the events of a run with a single write enable. */
static char *events_of_write_enable(struct served *served, const char *const *extra)
{
	static const uint8_t wren[] = {0x06};
	uint8_t reply[1];

	served_start(served, extra);
	served_spi(served, wren, sizeof(wren), reply, 0);
	return served_end_with_events(served);
}

/* A rule with a time applies to the first write, whether this machine was fast or slow. */
static void part_that_was_just_powered_is_owed_its_time(void **state)
{
	static const char *const extra[] = {"--powered-up-ns-ago=0", NULL};
	char *events = events_of_write_enable(*state, extra);

	assert_int_equal(count_of(events, "\"grade\":\"datasheet\""), 1);
	free(events);
}

static void part_is_long_powered_unless_told_otherwise(void **state)
{
	static const char *const extra[] = {NULL};
	char *events = events_of_write_enable(*state, extra);

	assert_int_equal(count_of(events, "\"margin_ns\":null"), 1);
	free(events);
}

static void state_in_which_the_part_is_found_stands_in_the_events_once(void **state)
{
	static const char *const asleep[] = {"--starts=asleep", NULL};
	char *events = events_of_write_enable(*state, asleep);

	assert_int_equal(count_of(events, "{\"ev\":\"starts\",\"t_ns\":"), 1);
	assert_int_equal(count_of(events, "\"state\":\"asleep\""), 1);
	assert_int_equal(count_of(events, "\"violation\":\"power_down\""), 1);
	free(events);
}

static void state_at_the_first_command_begins_just_before_it(void **state)
{
	static const char *const suspending[] = {"--starts=suspending", NULL};
	char *events = events_of_write_enable(*state, suspending);

	assert_int_equal(count_of(events, "\"violation\":\"tsus\""), 1);
	free(events);
}

static void state_at_the_pins_does_not_begin_where_nobody_turns_them_on(void **state)
{
	static const char *const fresh[] = {"--starts=fresh", NULL};
	char *events = events_of_write_enable(*state, fresh);

	assert_int_equal(count_of(events, "\"ev\":\"starts\""), 0);
	free(events);
}

static void drawn_corner_stands_in_the_events_with_its_seed(void **state)
{
	static const char *const extra[] = {"--corner=draw:42", NULL};
	struct served *served = *state;
	char *events;

	served_start(served, extra);
	events = served_end_with_events(served);
	assert_int_equal(count_of(events, "\"corner\":\"draw:42\""), 1);
	free(events);
}

static void part_that_never_ends_its_work_breaks_no_rule_of_time(void **state)
{
	static const char *const extra[] = {
		"--clock", "scripted:1000000", "--fault", "stuck-wip@1", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	served_start(served, extra);
	served_spi(served, (const uint8_t *)"\x06", 1, reply, 0);
	served_spi(served, (const uint8_t *)"\x02\x00\x00\x00\x42", 5, reply, 0);
	for (size_t i = 0; i < 100; i++) { /* 1 ms each; the page should take less than one */
		served_spi(served, (const uint8_t *)"\x05", 1, reply, 1);
		assert_int_equal(reply[0] & 0x01, 0x01);
	}
	served_spi(served, (const uint8_t *)"\x03\x00\x00\x00", 4, reply, 1);
	assert_int_equal(reply[0], 0xFF);
	events = served_end_with_events(served);
	assert_int_equal(count_of(events, "\"violation\":\"stuck\",\"margin_ns\":null"), 1);
	assert_int_equal(count_of(events, "\"violation\":\"busy\""), 0);
	assert_int_equal(count_of(events, "\"kind\":\"stuck-wip\",\"at\":\"busy\",\"nth\":1,"), 1);
	free(events);
}

int main(int argc, char *argv[])
{
	void *program = served_program(argc, argv);
	const struct CMUnitTest tests[] = {
		WITH_SERVED(written_bytes_are_read_back_and_stand_in_the_image),
		WITH_SERVED(early_read_is_recorded_with_a_negative_margin),
		WITH_SERVED(part_that_loses_power_answers_no_more_and_leaves_a_half_done),
		WITH_SERVED(parallel_part_is_programmed_and_read_over_its_own_bus),
		WITH_SERVED(write_of_too_many_bytes_leaves_the_stream_in_step),
		WITH_SERVED(chip_keeps_its_content_from_host_to_host),
		WITH_SERVED(part_that_was_just_powered_is_owed_its_time),
		WITH_SERVED(part_is_long_powered_unless_told_otherwise),
		WITH_SERVED(state_in_which_the_part_is_found_stands_in_the_events_once),
		WITH_SERVED(state_at_the_first_command_begins_just_before_it),
		WITH_SERVED(state_at_the_pins_does_not_begin_where_nobody_turns_them_on),
		WITH_SERVED(drawn_corner_stands_in_the_events_with_its_seed),
		WITH_SERVED(part_that_never_ends_its_work_breaks_no_rule_of_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
