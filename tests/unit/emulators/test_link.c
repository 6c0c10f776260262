/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stop signal is always pending here, so that a link that would sleep returns instead: each
 * call shows where it would have slept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "serprog/link.h"

static const struct serprog_limits limits = {.write_len_max = 16, .read_len_max = 16};

struct fixture {
	struct link link;
	struct clock clock;
	int host_fd;
	int stop_fds[2];
	uint8_t buffer[64];
	struct serprog_request request;
	uint64_t born_ns;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(pipe(fixture->stop_fds), 0);
	assert_int_equal(write(fixture->stop_fds[1], "", 1), 1);
	assert_int_equal(clock_init(&fixture->clock, CLOCK_SOURCE_MONOTONIC), 0);
	fixture->host_fd = fds[0];
	fixture->born_ns = clock_now_ns(&fixture->clock);
	link_init(&fixture->link, fds[1], fixture->stop_fds[0], &fixture->clock, &limits,
		fixture->buffer, fixture->born_ns);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	link_deinit(&fixture->link);
	close(fixture->host_fd);
	close(fixture->stop_fds[0]);
	close(fixture->stop_fds[1]);
	free(fixture);
	return 0;
}

static void host_sends(const struct fixture *fixture, const char *bytes, size_t len)
{
	assert_int_equal(write(fixture->host_fd, bytes, len), len);
}

static enum link_status next(struct fixture *fixture)
{
	return link_next(&fixture->link, &fixture->request);
}

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

static void reply_is_stamped_before_it_leaves(void **state)
{
	struct fixture *fixture = *state;
	uint64_t before_ns = clock_now_ns(&fixture->clock);
	uint64_t sent_ns;
	char got[2];

	assert_int_equal(
		link_send(&fixture->link, (const uint8_t *)"\x15\x06", 2, &sent_ns), LINK_REQUEST);
	assert_true(sent_ns >= before_ns);
	assert_true(sent_ns <= clock_now_ns(&fixture->clock));
	assert_int_equal(read(fixture->host_fd, got, 2), 2);
	assert_memory_equal(got, "\x15\x06", 2);
}

#define WITH_LINK(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

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
		WITH_LINK(reply_is_stamped_before_it_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
