/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-emu as it ships, over a real socket: the moments at which replies leave, and the effects
 * of a link. Its path is the first argument.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "served.h"

#define WREN "\x13\x01\x00\x00\x00\x00\x00\x06"
#define WREN_BYTES 8

/* Sends requests in one write; returns the number of bytes that the first read gets. */
static ssize_t first_replies_of(
	struct served *served, const char *const *extra, const char *requests, size_t len)
{
	uint8_t replies[64];
	ssize_t got;

	served_start(served, extra);
	assert_int_equal(send(served->fd, requests, len, 0), len);
	got = recv(served->fd, replies, sizeof(replies), 0);
	assert_true(got > 0);
	return got;
}

static void replies_to_requests_that_came_together_leave_together(void **state)
{
	static const char *const extra[] = {NULL};
	struct served *served = *state;

	assert_int_equal(first_replies_of(served, extra, WREN WREN, 2 * WREN_BYTES), 2);
	served_end(served);
}

/* Only the second request takes 0.3 s on the line. */
static void replies_leave_one_by_one_where_a_request_takes_time(void **state)
{
	static const char *const extra[] = {"--link", "baud=300", NULL};
	struct served *served = *state;

	assert_int_equal(first_replies_of(served, extra, WREN WREN, 2 * WREN_BYTES), 1);
	served_end(served);
}

static void last_reply_before_a_bound_reaches_its_host(void **state)
{
	static const char *const extra[] = {"--records-max", "2", NULL};
	struct served *served = *state;
	uint8_t reply[2];

	assert_int_equal(first_replies_of(served, extra, WREN WREN, 2 * WREN_BYTES), 1);
	assert_int_equal(recv(served->fd, reply, 2, 0), 0);
	assert_int_equal(served_wait_for_exit(served), 0);
}

static void limits_of_the_link_are_told_and_kept(void **state)
{
	static const char *const extra[] = {"--link",
		"serial-buffer=64,opbuf=12,write-max=8,read-max=16", "--native-delay", NULL};
	struct served *served = *state;
	uint8_t reply[32];

	served_start(served, extra);
	served_ask(served, "\x04", 1, reply, 3);
	assert_memory_equal(reply, "\x06\x40\x00", 3);
	served_ask(served, "\x07", 1, reply, 3);
	assert_memory_equal(reply, "\x06\x0C\x00", 3);
	served_ask(served, "\x08", 1, reply, 4);
	assert_memory_equal(reply, "\x06\x08\x00\x00", 4);
	served_ask(served, "\x11", 1, reply, 4);
	assert_memory_equal(reply, "\x06\x10\x00\x00", 4);
	served_ask(served, "\x13\x01\x00\x00\x10\x00\x00\x9F", 8, reply, 17);
	served_ask(served, "\x13\x01\x00\x00\x11\x00\x00\x9F", 8, reply, 1);
	assert_int_equal(reply[0], 0x15);
	served_ask(served, "\x13\x09\x00\x00\x00\x00\x00\x9F\x00\x00\x00\x00\x00\x00\x00\x00", 16,
		reply, 1);
	assert_int_equal(reply[0], 0x15);
	for (size_t i = 0; i < 2; i++) { /* an operation of 5 bytes */
		served_ask(served, "\x0E\x01\x00\x00\x00", 5, reply, 1);
		assert_int_equal(reply[0], 0x06);
	}
	served_ask(served, "\x0E\x01\x00\x00\x00", 5, reply, 1);
	assert_int_equal(reply[0], 0x15);
	served_end(served);
}

static void streaming_firmware_has_no_query_for_lengths(void **state)
{
	static const char *const extra[] = {"--link", "stm32-vserprog", NULL};
	struct served *served = *state;
	uint8_t *reply = malloc(1 + 0x10000);

	served_start(served, extra);
	/* That query gets no answer: the bytes belong to the next one. */
	served_ask(served, "\x08\x10", 2, reply, 2);
	assert_memory_equal(reply, "\x15\x06", 2);
	/* A transfer of 64 KiB, as clients ask of a device that reports no limit. */
	served_ask(served, "\x13\x04\x00\x00\x00\x00\x01\x03\x00\x00\x00", 11, reply, 1 + 0x10000);
	assert_int_equal(reply[0x10000], 0xFF);
	free(reply);
	served_end(served);
}

/* Counts what is recorded of a client that goes on @clock later after a power-down of 3 us. */
static int recorded_after_power_down(
	struct served *served, const char *clock, const char *link, const char *what)
{
	const char *const extra[] = {"--clock", clock, "--link", link, NULL};
	uint8_t reply[4];
	char *events;
	int count;

	served_start(served, extra);
	served_spi(served, (const uint8_t[]){0xB9}, 1, reply, 0);
	served_spi(served, (const uint8_t[]){0xAB}, 1, reply, 0);
	events = served_end_with_events(served);
	count = count_of(events, what);
	free(events);
	return count;
}

/* Returns the violations of a client that waits 4 us. */
static int early_after_power_down(struct served *served, const char *link)
{
	return recorded_after_power_down(
		served, "scripted:4000", link, "\"violation\":\"tdp\",\"margin_ns\":-3000,");
}

static void whole_wait_is_too_early_where_chip_select_rises_after_the_reply(void **state)
{
	assert_int_equal(early_after_power_down(*state, "baud=100000000"), 0);
	assert_int_equal(early_after_power_down(*state, "cs-late-us=1000"), 1);
}

/* Returns the violations of a client that waits 1 ns. */
static int early_at_once(struct served *served, const char *link)
{
	return recorded_after_power_down(served, "scripted:1", link, "\"violation\":\"tdp\"");
}

static void device_that_needs_a_pause_holds_up_what_comes_sooner(void **state)
{
	assert_int_equal(early_at_once(*state, "pause-us=1"), 1);
	assert_int_equal(early_at_once(*state, "pause-us=3"), 0);
}

/* The arguments come later, and the rest of the answer after them. */
static void setting_is_acknowledged_before_its_arguments(void **state)
{
	static const char *const extra[] = {"--link", "ack-first=1", NULL};
	struct served *served = *state;
	uint8_t reply[4];

	served_start(served, extra);
	served_ask(served, "\x14", 1, reply, 1);
	assert_int_equal(reply[0], 0x06);
	served_ask(served, "\x40\x42\x0F\x00", 4, reply, 4); /* 1 MHz */
	assert_memory_equal(reply, "\x40\x42\x0F\x00", 4);
	served_ask(served, "\x14\x40\x42\x0F\x00", 5, reply, 4);
	assert_memory_equal(reply, "\x06\x40\x42\x0F", 4);
	served_end(served);
}

/* Returns the events of three NOPs, and the answer to each. */
static char *events_of_three_nops(struct served *served, const char *const *extra, uint8_t *replies)
{
	served_start(served, extra);
	for (size_t i = 0; i < 3; i++)
		served_ask(served, "\x00", 1, replies + i, 1);
	return served_end_with_events(served);
}

static void refused_request_is_a_fault_of_the_link(void **state)
{
	static const char *const extra[] = {"--fault", "nak@2", NULL};
	uint8_t replies[3];
	char *events = events_of_three_nops(*state, extra, replies);

	assert_memory_equal(replies, "\x06\x15\x06", 3);
	assert_int_equal(count_of(events, "\"kind\":\"nak\",\"at\":\"request\",\"nth\":2,"), 1);
	assert_int_equal(count_of(events, "\"faults\":\"nak@2\"}"), 1);
	assert_int_equal(count_of(events, "\"violations\":0,\"faults\":1,\"clean\":true}"), 1);
	free(events);
}

static void same_requests_on_a_scripted_clock_leave_the_same_events(void **state)
{
	static const char *const extra[] = {"--clock", "scripted:5000", "--seed", "3", "--link",
		"baud=115200,usb-frame-us=1000", "--fault", "nak@p=0.3", "--fault",
		"delay:700000@p=0.5", NULL};
	uint8_t first[3];
	uint8_t second[3];
	char *events = events_of_three_nops(*state, extra, first);
	char *again = events_of_three_nops(*state, extra, second);

	assert_memory_equal(first, second, 3);
	assert_string_equal(events, again);
	assert_int_equal(count_of(events, "\"clock\":\"scripted\",\"clock_step_ns\":5000,"), 1);
	free(events);
	free(again);
}

/* At 300 baud a NOP and its reply take 66 ms; for a request they pass before the wait. */
static void slow_line_holds_requests_and_replies(void **state)
{
	static const char *const extra[] = {"--clock", "scripted:1", "--link", "baud=300", NULL};
	uint8_t replies[3];
	char *events = events_of_three_nops(*state, extra, replies);

	/* 2 x 33333334 ns after the clock's start; then a tick. */
	assert_int_equal(count_of(events, "\"read_ns\":1000000000,\"reply_ns\":1066666668,"), 1);
	assert_int_equal(count_of(events, "\"read_ns\":1066666669,\"reply_ns\":1133333337,"), 1);
	assert_int_equal(count_of(events, "\"link\":\"baud=300\""), 1);
	free(events);
}

static void request_that_ends_the_link_is_not_answered(void **state)
{
	static const char *const extra[] = {"--fault", "hang-up@1", NULL};
	struct served *served = *state;
	uint8_t reply[1];
	char *events;

	served_start(served, extra);
	assert_int_equal(send(served->fd, "\x00", 1, 0), 1);
	assert_true(recv(served->fd, reply, 1, 0) <= 0);
	assert_int_equal(served_wait_for_exit(served), 0);
	events = file_text(served->events);
	assert_int_equal(count_of(events, "\"ev\":\"serprog\""), 0);
	assert_int_equal(count_of(events, "\"kind\":\"hang-up\""), 1);
	free(events);
}

int main(int argc, char *argv[])
{
	void *program = served_program(argc, argv);
	const struct CMUnitTest tests[] = {
		WITH_SERVED(limits_of_the_link_are_told_and_kept),
		WITH_SERVED(streaming_firmware_has_no_query_for_lengths),
		WITH_SERVED(refused_request_is_a_fault_of_the_link),
		WITH_SERVED(same_requests_on_a_scripted_clock_leave_the_same_events),
		WITH_SERVED(replies_to_requests_that_came_together_leave_together),
		WITH_SERVED(replies_leave_one_by_one_where_a_request_takes_time),
		WITH_SERVED(last_reply_before_a_bound_reaches_its_host),
		WITH_SERVED(slow_line_holds_requests_and_replies),
		WITH_SERVED(request_that_ends_the_link_is_not_answered),
		WITH_SERVED(whole_wait_is_too_early_where_chip_select_rises_after_the_reply),
		WITH_SERVED(device_that_needs_a_pause_holds_up_what_comes_sooner),
		WITH_SERVED(setting_is_acknowledged_before_its_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
