/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client that sends the opcode of a transfer alone, and a link that saves reads. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#include "link_fixture.h"

/* Replaces the socket pair by a TCP connection, which can count the bytes that wake a reader. */
static void connect_by_tcp(struct fixture *fixture)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int on = 1;
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(listener >= 0);
	close(fixture->link.fd);
	close(fixture->host_fd);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	fixture->host_fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fixture->host_fd, (const struct sockaddr *)&address, len), 0);
	setsockopt(fixture->host_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	fixture->link.fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	assert_true(fixture->link.fd >= 0);
	close(listener);
}

static void let_it_sleep(const struct fixture *fixture)
{
	char byte;

	assert_int_equal(read(fixture->stop_fds[0], &byte, 1), 1);
}

static bool would_wake(const struct fixture *fixture)
{
	struct pollfd fds = {.fd = fixture->link.fd, .events = POLLIN};

	return poll(&fds, 1, 0) == 1;
}

#define TRANSFER "\x01\x00\x00\x01\x00\x00\x05"
#define TRANSFER_BYTES 7

/* Sends a request as a client so slow that its first byte is read alone. */
static void send_in_pieces(const struct fixture *fixture)
{
	const struct timespec pause = {.tv_nsec = 30000000};

	if (fork() > 0)
		return;
	host_sends(fixture, "\x13", 1);
	nanosleep(&pause, NULL);
	host_sends(fixture, TRANSFER, TRANSFER_BYTES);
	_exit(0);
}

/* Serves requests in pieces until the link knows of them; the next call sleeps. */
static void serve_in_pieces(struct fixture *fixture)
{
	connect_by_tcp(fixture);
	link_init(&fixture->link);
	fixture->link.patience.wake_suffices = true;
	let_it_sleep(fixture);
	host_sends(fixture, "\x13" TRANSFER, 1 + TRANSFER_BYTES);
	assert_int_equal(next(fixture), LINK_REQUEST);
	while (!fixture->link.patience.piecewise) {
		send_in_pieces(fixture);
		assert_int_equal(next(fixture), LINK_REQUEST);
		wait(NULL);
	}
	assert_int_equal(write(fixture->stop_fds[1], "", 1), 1);
	assert_int_equal(next(fixture), LINK_STOPPED);
	let_it_sleep(fixture);
}

static void read_that_would_find_nothing_is_left_out_after_a_transfer(void **state)
{
	struct fixture *fixture = *state;
	uint64_t read_ns;

	fixture->link.patience.wake_suffices = true;
	host_sends(fixture, "\x13" TRANSFER, 1 + TRANSFER_BYTES);
	assert_int_equal(next(fixture), LINK_REQUEST);
	read_ns = fixture->link.read_ns;
	assert_int_equal(next(fixture), LINK_STOPPED);
	assert_true(fixture->link.empty_ns <= read_ns);
	let_it_sleep(fixture);
	host_sends(fixture, "\x13" TRANSFER, 1 + TRANSFER_BYTES);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_true(fixture->link.empty_ns <= read_ns);
	assert_false(fixture->link.patience.held_up);
}

static void read_is_tried_first_where_its_moment_counts(void **state)
{
	struct fixture *fixture = *state;
	uint64_t read_ns;

	host_sends(fixture, "\x13" TRANSFER, 1 + TRANSFER_BYTES);
	assert_int_equal(next(fixture), LINK_REQUEST);
	read_ns = fixture->link.read_ns;
	assert_int_equal(next(fixture), LINK_STOPPED);
	assert_true(fixture->link.empty_ns >= read_ns);
}

static void opcode_by_itself_wakes_nobody_after_some_like_it(void **state)
{
	struct fixture *fixture = *state;

	serve_in_pieces(fixture);
	host_sends(fixture, "\x13", 1);
	assert_false(would_wake(fixture));
	host_sends(fixture, TRANSFER, TRANSFER_BYTES);
	assert_true(would_wake(fixture));
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->request.op, 0x13);
	assert_false(fixture->link.patience.held_up);
}

static void request_of_a_byte_is_served_and_known_to_have_waited(void **state)
{
	struct fixture *fixture = *state;

	serve_in_pieces(fixture);
	host_sends(fixture, "\x00", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->request.op, 0x00);
	assert_true(fixture->link.patience.held_up);
}

static void request_of_a_byte_that_others_follow_may_have_waited(void **state)
{
	struct fixture *fixture = *state;

	serve_in_pieces(fixture);
	host_sends(fixture, "\x00", 1);
	host_sends(fixture, "\x10", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_true(fixture->link.patience.held_up);
}

static void rest_of_a_transfer_is_waited_for_past_all_patience(void **state)
{
	struct fixture *fixture = *state;

	serve_in_pieces(fixture);
	send_in_pieces(fixture);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->request.op, 0x13);
	assert_false(fixture->link.patience.held_up);
	wait(NULL);
}

/* When a socket is closed with unread bytes in it, the kernel resets the connection. */
static void host_keeps_its_reply_where_the_link_ends_after_it(void **state)
{
	struct fixture *fixture = *state;
	uint64_t sent_ns;
	char got[128];

	serve_in_pieces(fixture);
	host_sends(fixture, "\x13", 1);
	host_sends(fixture, TRANSFER, TRANSFER_BYTES);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.patience.left_bytes, 1 + TRANSFER_BYTES);
	assert_int_equal(
		link_send(&fixture->link, (const uint8_t *)"\x06\x02", 2, &sent_ns), LINK_REQUEST);
	link_deinit(&fixture->link);
	assert_int_equal(host_gets(fixture, got), 2);
	assert_int_equal(host_gets(fixture, got), 0);
}

static void link_that_knows_no_patience_is_served_without(void **state)
{
	struct fixture *fixture = *state;
	int fds[2];

	assert_int_equal(pipe(fds), 0); /* a pipe has no socket options */
	close(fixture->link.fd);
	fixture->link.fd = fds[0];
	link_init(&fixture->link);
	fixture->link.patience.wake_suffices = true;
	fixture->link.patience.piecewise = true;
	fixture->link.patience.follows_transfer = true;
	let_it_sleep(fixture);
	assert_int_equal(write(fds[1], "\x00", 1), 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_false(fixture->link.patience.piecewise);
	assert_false(fixture->link.patience.held_up);
	close(fds[1]);
}

static void host_that_left_is_noticed_behind_what_was_left(void **state)
{
	struct fixture *fixture = *state;

	serve_in_pieces(fixture);
	host_sends(fixture, "\x13", 1);
	host_sends(fixture, TRANSFER, TRANSFER_BYTES);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.patience.left_bytes, 1 + TRANSFER_BYTES);
	shutdown(fixture->host_fd, SHUT_WR);
	assert_int_equal(next(fixture), LINK_CLOSED);
}

static void bytes_that_were_left_are_taken_once(void **state)
{
	struct fixture *fixture = *state;

	serve_in_pieces(fixture);
	host_sends(fixture, "\x13", 1);
	host_sends(fixture, TRANSFER "\x13\x02", TRANSFER_BYTES + 2);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.patience.left_bytes, 1 + TRANSFER_BYTES + 2);
	host_sends(fixture, "\x00\x00\x00\x00\x00\x01\x02", 7);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.patience.left_bytes, 0);
	assert_int_equal(fixture->request.write_len, 2);
	assert_memory_equal(fixture->request.data, "\x01\x02", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LINK(read_that_would_find_nothing_is_left_out_after_a_transfer),
		WITH_LINK(read_is_tried_first_where_its_moment_counts),
		WITH_LINK(opcode_by_itself_wakes_nobody_after_some_like_it),
		WITH_LINK(request_of_a_byte_is_served_and_known_to_have_waited),
		WITH_LINK(request_of_a_byte_that_others_follow_may_have_waited),
		WITH_LINK(rest_of_a_transfer_is_waited_for_past_all_patience),
		WITH_LINK(host_keeps_its_reply_where_the_link_ends_after_it),
		WITH_LINK(link_that_knows_no_patience_is_served_without),
		WITH_LINK(host_that_left_is_noticed_behind_what_was_left),
		WITH_LINK(bytes_that_were_left_are_taken_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
