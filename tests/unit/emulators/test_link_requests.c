/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The moments at which requests count as received, and faults of received bytes. */
#include "link_fixture.h"

static void request_already_here_is_not_claimed_to_have_come_later(void **state)
{
	struct fixture *fixture = *state;

	host_sends(fixture, "\x00", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.empty_ns, fixture->born_ns);
	assert_true(fixture->link.read_ns > fixture->born_ns);
}

static void request_after_an_empty_read_came_after_it(void **state)
{
	struct fixture *fixture = *state;
	uint64_t empty_ns;

	assert_int_equal(next(fixture), LINK_STOPPED);
	empty_ns = fixture->link.empty_ns;
	assert_true(empty_ns > fixture->born_ns);
	host_sends(fixture, "\x00", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.empty_ns, empty_ns);
	assert_true(fixture->link.read_ns >= empty_ns);
}

static void request_after_a_read_that_left_nothing_came_after_it_began(void **state)
{
	struct fixture *fixture = *state;
	uint64_t before_read_ns;
	uint64_t read_ns;

	host_sends(fixture, "\x00", 1);
	before_read_ns = clock_now_ns(&fixture->clock);
	assert_int_equal(next(fixture), LINK_REQUEST);
	read_ns = fixture->link.read_ns;
	host_sends(fixture, "\x10", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_true(fixture->link.empty_ns >= before_read_ns);
	assert_true(fixture->link.empty_ns <= read_ns);
}

static void split_request_counts_as_come_with_its_last_byte(void **state)
{
	static const char bytes[] = {0x13, 2, 0, 0, 0, 0, 0, 0x11, 0x22};
	struct fixture *fixture = *state;
	uint64_t before_last_ns = 0;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		before_last_ns = clock_now_ns(&fixture->clock);
		assert_int_equal(next(fixture), LINK_STOPPED);
		host_sends(fixture, bytes + i, 1);
	}
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_true(fixture->link.empty_ns >= before_last_ns);
	assert_int_equal(fixture->request.write_len, 2);
	assert_int_equal(fixture->request.data[1], 0x22);
}

static void requests_sent_together_share_one_interval(void **state)
{
	struct fixture *fixture = *state;
	uint64_t empty_ns;
	uint64_t read_ns;

	host_sends(fixture, "\x00\x10", 2);
	assert_int_equal(next(fixture), LINK_REQUEST);
	empty_ns = fixture->link.empty_ns;
	read_ns = fixture->link.read_ns;
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->request.op, 0x10);
	assert_int_equal(fixture->link.empty_ns, empty_ns);
	assert_int_equal(fixture->link.read_ns, read_ns);
}

static void oversized_request_is_dropped_and_the_next_understood(void **state)
{
	static const char head[] = {0x13, 100, 0, 0, 0, 0, 0};
	struct fixture *fixture = *state;
	char body[100];

	memset(body, 0x02, sizeof(body));
	host_sends(fixture, head, sizeof(head));
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_true(fixture->request.oversized);
	host_sends(fixture, body, sizeof(body));
	host_sends(fixture, "\x10", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->request.op, 0x10);
}

static void host_that_left_closes_the_link(void **state)
{
	struct fixture *fixture = *state;

	host_sends(fixture, "\x13", 1);
	shutdown(fixture->host_fd, SHUT_RDWR);
	assert_int_equal(next(fixture), LINK_CLOSED);
}

static void request_ahead_is_seen_once_it_is_all_here(void **state)
{
	struct fixture *fixture = *state;
	struct serprog_request ahead;

	host_sends(fixture, "\x00\x13\x01\x00\x00\x01\x00\x00", 8);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_false(link_peek(&fixture->link, &ahead));
	assert_int_equal(next(fixture), LINK_STOPPED);
	host_sends(fixture, "\x05\x10", 2);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->request.op, 0x13);
	assert_true(link_peek(&fixture->link, &ahead));
	assert_int_equal(ahead.op, 0x10);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->request.op, 0x10);
	assert_false(link_peek(&fixture->link, &ahead));
}

/* The request fills the buffer: no byte of it may be lost or overwritten. */
static void duplicated_bytes_of_the_longest_request_all_come_in(void **state)
{
	static const char bytes[7 + 16] = {0x13, 16, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
	struct fixture *fixture = *state;

	assert_int_equal(faults_add(&fixture->faults, "duplicate@in:23"), 0);
	host_sends(fixture, bytes, sizeof(bytes));
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_memory_equal(fixture->request.data, bytes + 7, 16);
	assert_int_equal(next(fixture), LINK_REQUEST); /* the extra byte 00h is a NOP */
	assert_int_equal(fixture->request.op, 0x00);
	assert_int_equal(fixture->events.count, 1);
	assert_int_equal(events_at(&fixture->events, 0)->kind, EVENT_FAULT);
	assert_int_equal(events_at(&fixture->events, 0)->fault_nth, 23);
}

static void dropped_byte_is_not_taken_for_the_end(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(faults_add(&fixture->faults, "drop@in:1"), 0);
	host_sends(fixture, "\x00", 1);
	assert_int_equal(next(fixture), LINK_STOPPED);
	host_sends(fixture, "\x10", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->request.op, 0x10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LINK(request_already_here_is_not_claimed_to_have_come_later),
		WITH_LINK(request_after_an_empty_read_came_after_it),
		WITH_LINK(request_after_a_read_that_left_nothing_came_after_it_began),
		WITH_LINK(split_request_counts_as_come_with_its_last_byte),
		WITH_LINK(requests_sent_together_share_one_interval),
		WITH_LINK(oversized_request_is_dropped_and_the_next_understood),
		WITH_LINK(host_that_left_closes_the_link),
		WITH_LINK(request_ahead_is_seen_once_it_is_all_here),
		WITH_LINK(duplicated_bytes_of_the_longest_request_all_come_in),
		WITH_LINK(dropped_byte_is_not_taken_for_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
