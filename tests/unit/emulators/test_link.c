/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests a link with its client, and the times at which the kernel receives bytes. Until
 * let_it_sleep(), the stop signal is pending, so that the link returns LINK_STOPPED instead of
 * sleeping.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../run_cases.h"
#include "serprog/link.h"

#define NS_PER_MS UINT64_C(1000000)

static const struct serprog_limits limits = {.write_len_max = 16, .read_len_max = 16};

struct fixture {
	struct link link;
	struct clock clock;
	int client_fd;
	int stop_fds[2];
	struct faults faults;
	struct events events;
	uint8_t buffer[128];
	struct serprog_request request;
	uint64_t start_ns;
};

static void set_up(struct fixture *fixture)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	assert_int_equal(pipe(fixture->stop_fds), 0);
	assert_int_equal(write(fixture->stop_fds[1], "", 1), 1);
	assert_int_equal(clock_init(&fixture->clock, CLOCK_SOURCE_MONOTONIC), 0);
	fixture->client_fd = fds[0];
	fixture->start_ns = clock_now_ns(&fixture->clock);
	faults_init(&fixture->faults, 1);
	assert_int_equal(events_init(&fixture->events, 1), 0);
	assert_true(link_buffer_bytes(&limits) <= sizeof(fixture->buffer));
	fixture->link = (struct link){
		.fd = fds[1],
		.signal_fd = fixture->stop_fds[0],
		.clock = &fixture->clock,
		.limits = &limits,
		.faults = &fixture->faults,
		.events = &fixture->events,
		.buffer = fixture->buffer,
		.empty_ns = fixture->start_ns,
	};
	link_init(&fixture->link);
}

static void tear_down(struct fixture *fixture)
{
	link_deinit(&fixture->link);
	events_deinit(&fixture->events);
	close(fixture->client_fd);
	close(fixture->stop_fds[0]);
	close(fixture->stop_fds[1]);
}

FIXTURE(fixture, set_up, tear_down);

static void client_sends(const struct fixture *fixture, const char *bytes, size_t len)
{
	assert_int_equal(write(fixture->client_fd, bytes, len), len);
}

/* Checks that the client can read these bytes and no others. */
static void assert_client_got(const struct fixture *fixture, const char *expected, ssize_t len)
{
	char bytes[128];

	assert_int_equal(read(fixture->client_fd, bytes, sizeof(bytes)), len > 0 ? len : -1);
	if (len > 0)
		assert_memory_equal(bytes, expected, len);
}

static enum link_status next(struct fixture *fixture)
{
	return link_next(&fixture->link, &fixture->request);
}

static void assert_next(struct fixture *fixture, uint8_t op)
{
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->request.op, op);
}

/* Sends a reply to the client. Returns when it was sent. */
static uint64_t answer(struct fixture *fixture, const char *bytes, size_t len)
{
	uint64_t sent_ns;

	assert_int_equal(
		link_send(&fixture->link, (const uint8_t *)bytes, len, &sent_ns), LINK_REQUEST);
	return sent_ns;
}

/* The times at which requests arrive, and faults of received bytes. */

TEST_ON(fixture, interval_of_the_first_request_begins_with_the_link)
{
	client_sends(fixture, "\x00", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.empty_ns, fixture->start_ns);
	assert_true(fixture->link.read_ns > fixture->start_ns);
}

TEST_ON(fixture, interval_begins_at_the_last_empty_read)
{
	uint64_t empty_ns;

	assert_int_equal(next(fixture), LINK_STOPPED);
	empty_ns = fixture->link.empty_ns;
	assert_true(empty_ns > fixture->start_ns);
	client_sends(fixture, "\x00", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.empty_ns, empty_ns);
	assert_true(fixture->link.read_ns >= empty_ns);
}

TEST_ON(fixture, interval_begins_with_the_last_read_that_left_no_bytes)
{
	uint64_t before_read_ns;
	uint64_t read_ns;

	client_sends(fixture, "\x00", 1);
	before_read_ns = clock_now_ns(&fixture->clock);
	assert_int_equal(next(fixture), LINK_REQUEST);
	read_ns = fixture->link.read_ns;
	client_sends(fixture, "\x10", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_true(fixture->link.empty_ns >= before_read_ns);
	assert_true(fixture->link.empty_ns <= read_ns);
}

TEST_ON(fixture, split_request_arrives_with_its_last_byte)
{
	static const char bytes[] = {0x13, 2, 0, 0, 0, 0, 0, 0x11, 0x22};
	uint64_t before_last_ns = 0;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		before_last_ns = clock_now_ns(&fixture->clock);
		assert_int_equal(next(fixture), LINK_STOPPED);
		client_sends(fixture, bytes + i, 1);
	}
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_true(fixture->link.empty_ns >= before_last_ns);
	assert_int_equal(fixture->request.write_len, 2);
	assert_int_equal(fixture->request.data[1], 0x22);
}

TEST_ON(fixture, requests_sent_together_share_one_interval)
{
	uint64_t empty_ns;
	uint64_t read_ns;

	client_sends(fixture, "\x00\x10", 2);
	assert_int_equal(next(fixture), LINK_REQUEST);
	empty_ns = fixture->link.empty_ns;
	read_ns = fixture->link.read_ns;
	assert_next(fixture, 0x10);
	assert_int_equal(fixture->link.empty_ns, empty_ns);
	assert_int_equal(fixture->link.read_ns, read_ns);
}

TEST_ON(fixture, oversized_request_is_dropped_and_the_next_is_parsed)
{
	static const char head[] = {0x13, 100, 0, 0, 0, 0, 0};
	char body[100];

	memset(body, 0x02, sizeof(body));
	client_sends(fixture, head, sizeof(head));
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_true(fixture->request.oversized);
	client_sends(fixture, body, sizeof(body));
	client_sends(fixture, "\x10", 1);
	assert_next(fixture, 0x10);
}

TEST_ON(fixture, client_that_disconnects_closes_the_link)
{
	client_sends(fixture, "\x13", 1);
	shutdown(fixture->client_fd, SHUT_RDWR);
	assert_int_equal(next(fixture), LINK_CLOSED);
}

TEST_ON(fixture, next_request_can_be_peeked_once_it_is_complete)
{
	struct serprog_request ahead;

	client_sends(fixture, "\x00\x13\x01\x00\x00\x01\x00\x00", 8);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_false(link_peek(&fixture->link, &ahead));
	assert_int_equal(next(fixture), LINK_STOPPED);
	client_sends(fixture, "\x05\x10", 2);
	assert_next(fixture, 0x13);
	assert_true(link_peek(&fixture->link, &ahead));
	assert_int_equal(ahead.op, 0x10);
	assert_next(fixture, 0x10);
	assert_false(link_peek(&fixture->link, &ahead));
}

TEST_ON(fixture, duplicated_byte_of_the_longest_request_is_kept)
{
	static const char bytes[7 + 16] = {0x13, 16, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};

	assert_int_equal(faults_add(&fixture->faults, "duplicate@in:23"), 0);
	client_sends(fixture, bytes, sizeof(bytes));
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_memory_equal(fixture->request.data, bytes + 7, 16);
	assert_next(fixture, 0x00); /* the extra byte 00h is a NOP */
	assert_int_equal(fixture->events.count, 1);
	assert_int_equal(events_at(&fixture->events, 0)->kind, EVENT_FAULT);
	assert_int_equal(events_at(&fixture->events, 0)->fault_nth, 23);
}

TEST_ON(fixture, read_whose_only_byte_is_dropped_does_not_close_the_link)
{
	assert_int_equal(faults_add(&fixture->faults, "drop@in:1"), 0);
	client_sends(fixture, "\x00", 1);
	assert_int_equal(next(fixture), LINK_STOPPED);
	client_sends(fixture, "\x10", 1);
	assert_next(fixture, 0x10);
}

/* The times at which replies leave, and at which waits end. */

/* Holds a reply. Returns when that began. */
static uint64_t hold(struct fixture *fixture, const char *bytes, size_t len)
{
	uint64_t held_ns;

	assert_true(link_hold(&fixture->link, (const uint8_t *)bytes, len, &held_ns));
	return held_ns;
}

TEST_ON(fixture, reply_is_stamped_before_it_leaves)
{
	const uint64_t before_ns = clock_now_ns(&fixture->clock);
	const uint64_t sent_ns = answer(fixture, "\x15\x06", 2);

	assert_in_range(sent_ns, before_ns, clock_now_ns(&fixture->clock));
	assert_client_got(fixture, "\x15\x06", 2);
}

TEST_ON(fixture, held_reply_leaves_with_the_next_reply)
{
	const uint64_t before_ns = clock_now_ns(&fixture->clock);
	const uint64_t held_ns = hold(fixture, "\x15", 1);

	assert_true(held_ns >= before_ns);
	assert_client_got(fixture, "", 0);
	assert_true(answer(fixture, "\x06\x02", 2) >= held_ns);
	assert_client_got(fixture, "\x15\x06\x02", 3);
}

TEST_ON(fixture, held_reply_leaves_before_a_sleep)
{
	hold(fixture, "\x06", 1);
	assert_int_equal(next(fixture), LINK_STOPPED);
	assert_client_got(fixture, "\x06", 1);
}

TEST_ON(fixture, held_reply_leaves_before_a_read)
{
	hold(fixture, "\x06", 1);
	client_sends(fixture, "\x00", 1);
	assert_next(fixture, 0x00);
	assert_client_got(fixture, "\x06", 1);
}

TEST_ON(fixture, held_reply_leaves_before_a_wait_that_only_a_signal_ends)
{
	hold(fixture, "\x06", 1);
	assert_int_equal(link_wait_until(&fixture->link, fixture->start_ns), LINK_REQUEST);
	assert_client_got(fixture, "", 0);
	assert_int_equal(link_wait_until(&fixture->link, FAULT_FOR_EVER), LINK_STOPPED);
	assert_client_got(fixture, "\x06", 1);
}

TEST_ON(fixture, reply_too_long_to_hold_is_sent_after_those_held)
{
	static const char replies[LINK_HELD_BYTES_MAX + 1] = {
		1, 2, 3, [LINK_HELD_BYTES_MAX - 1] = 0x06, 0x02};
	const char *last = replies + LINK_HELD_BYTES_MAX - 1;
	uint64_t sent_ns;

	hold(fixture, replies, LINK_HELD_BYTES_MAX - 1);
	assert_false(link_hold(&fixture->link, (const uint8_t *)last, 2, &sent_ns));
	assert_client_got(fixture, "", 0);
	answer(fixture, last, 2);
	assert_client_got(fixture, replies, LINK_HELD_BYTES_MAX + 1);
}

TEST_ON(fixture, wait_on_a_scripted_clock_ends_at_its_deadline)
{
	uint64_t until_ns = CLOCK_SCRIPTED_START_NS + UINT64_C(3600000000000);

	clock_init_scripted(&fixture->clock, 1000);
	assert_int_equal(link_wait_until(&fixture->link, until_ns), LINK_REQUEST);
	assert_int_equal(clock_now_ns(&fixture->clock), until_ns);
}

/* A client that sends the opcode of a transfer separately, and a link that omits reads. */

/* Connects two ends by TCP. @flags are those of the reader's end, from accept4(). */
static void connect_by_tcp(int *sender, int *reader, int flags)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int on = 1;

	assert_true(listener >= 0);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	*sender = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(*sender, (const struct sockaddr *)&address, len), 0);
	setsockopt(*sender, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	*reader = accept4(listener, NULL, NULL, flags);
	assert_true(*reader >= 0);
	close(listener);
}

static void pause_for(uint64_t ns)
{
	const struct timespec time = {.tv_nsec = (long)ns};

	nanosleep(&time, NULL);
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

/* Starts a client that sends a request when the link sleeps. */
static void send_later(const struct fixture *fixture)
{
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return;
	pause_for(20 * NS_PER_MS);
	client_sends(fixture, "\x00", 1);
	_exit(0);
}

/* The second client stays at the listener, so it must not end the link's sleeps. */
TEST_ON(fixture, client_that_cannot_be_turned_away_waits)
{
	static const enum listener_kind kinds[] = {LISTENER_UNIX, LISTENER_PTY};
	int ends[2]; /* readable, but nobody can accept a client there */

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	let_it_sleep(fixture);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct listener listener = {.kind = kinds[i], .fd = ends[0]};

		fixture->link.refusing = &listener;
		send_later(fixture);
		assert_int_equal(next(fixture), LINK_REQUEST);
		assert_null(fixture->link.refusing);
		wait(NULL);
	}
	assert_int_equal(fixture->events.count, 0);
	close(ends[0]);
	close(ends[1]);
}

#define TRANSFER "\x01\x00\x00\x01\x00\x00\x05"
#define TRANSFER_BYTES 7

static void serve_transfer(struct fixture *fixture)
{
	client_sends(fixture, "\x13" TRANSFER, 1 + TRANSFER_BYTES);
	assert_int_equal(next(fixture), LINK_REQUEST);
}

/* Starts a client so slow that the link reads the first byte of its request alone. */
static void send_in_pieces(const struct fixture *fixture)
{
	const pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return;
	client_sends(fixture, "\x13", 1);
	pause_for(30 * NS_PER_MS);
	client_sends(fixture, TRANSFER, TRANSFER_BYTES);
	_exit(0);
}

/*
 * Serves requests in pieces until the link expects them, over TCP, whose poll() obeys SO_RCVLOWAT.
 * Leaves the link in the sleep after a transfer, without a stop signal.
 */
static void serve_in_pieces(struct fixture *fixture)
{
	close(fixture->link.fd);
	close(fixture->client_fd);
	connect_by_tcp(&fixture->client_fd, &fixture->link.fd, SOCK_NONBLOCK);
	link_init(&fixture->link);
	fixture->link.patience.wake_suffices = true;
	let_it_sleep(fixture);
	serve_transfer(fixture);
	while (!fixture->link.patience.piecewise) {
		send_in_pieces(fixture);
		assert_int_equal(next(fixture), LINK_REQUEST);
		wait(NULL);
	}
	assert_int_equal(write(fixture->stop_fds[1], "", 1), 1);
	assert_int_equal(next(fixture), LINK_STOPPED);
	let_it_sleep(fixture);
}

TEST_ON(fixture, no_read_is_tried_after_a_transfer_if_a_wake_up_suffices)
{
	uint64_t read_ns;

	fixture->link.patience.wake_suffices = true;
	serve_transfer(fixture);
	read_ns = fixture->link.read_ns;
	assert_int_equal(next(fixture), LINK_STOPPED);
	assert_true(fixture->link.empty_ns <= read_ns);
	let_it_sleep(fixture);
	serve_transfer(fixture);
	assert_true(fixture->link.empty_ns <= read_ns);
	assert_false(fixture->link.patience.held_up);
}

TEST_ON(fixture, read_is_tried_after_a_transfer_unless_a_wake_up_suffices)
{
	uint64_t read_ns;

	serve_transfer(fixture);
	read_ns = fixture->link.read_ns;
	assert_int_equal(next(fixture), LINK_STOPPED);
	assert_true(fixture->link.empty_ns >= read_ns);
}

TEST_ON(fixture, separate_opcode_does_not_wake_a_link_that_expects_it)
{
	serve_in_pieces(fixture);
	client_sends(fixture, "\x13", 1);
	assert_false(would_wake(fixture));
	client_sends(fixture, TRANSFER, TRANSFER_BYTES);
	assert_true(would_wake(fixture));
	assert_next(fixture, 0x13);
	assert_false(fixture->link.patience.held_up);
}

TEST_ON(fixture, request_of_one_byte_is_served_and_marked_as_held_up)
{
	serve_in_pieces(fixture);
	client_sends(fixture, "\x00", 1);
	assert_next(fixture, 0x00);
	assert_true(fixture->link.patience.held_up);
}

TEST_ON(fixture, request_of_one_byte_before_another_is_marked_as_held_up)
{
	serve_in_pieces(fixture);
	client_sends(fixture, "\x00", 1);
	client_sends(fixture, "\x10", 1);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_true(fixture->link.patience.held_up);
}

TEST_ON(fixture, rest_of_a_transfer_may_come_after_the_end_of_patience)
{
	serve_in_pieces(fixture);
	send_in_pieces(fixture);
	assert_next(fixture, 0x13);
	assert_false(fixture->link.patience.held_up);
	wait(NULL);
}

/* Serves a transfer after a patient sleep. Its bytes stay in the socket until the reply. */
static void leave_a_transfer_in_the_socket(struct fixture *fixture)
{
	serve_in_pieces(fixture);
	client_sends(fixture, "\x13", 1);
	client_sends(fixture, TRANSFER, TRANSFER_BYTES);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.patience.left_bytes, 1 + TRANSFER_BYTES);
}

/* When a socket is closed with unread bytes in it, the kernel resets the connection. */
TEST_ON(fixture, client_receives_the_last_reply_before_the_link_closes)
{
	char byte;

	leave_a_transfer_in_the_socket(fixture);
	answer(fixture, "\x06\x02", 2);
	link_deinit(&fixture->link);
	assert_client_got(fixture, "\x06\x02", 2);
	assert_int_equal(read(fixture->client_fd, &byte, 1), 0);
}

TEST_ON(fixture, file_without_socket_options_is_served_without_patience)
{
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

TEST_ON(fixture, disconnection_is_noticed_behind_bytes_left_in_the_socket)
{
	leave_a_transfer_in_the_socket(fixture);
	shutdown(fixture->client_fd, SHUT_WR);
	assert_int_equal(next(fixture), LINK_CLOSED);
}

TEST_ON(fixture, bytes_left_in_the_socket_are_parsed_once)
{
	serve_in_pieces(fixture);
	client_sends(fixture, "\x13", 1);
	client_sends(fixture, TRANSFER "\x13\x02", TRANSFER_BYTES + 2);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.patience.left_bytes, 1 + TRANSFER_BYTES + 2);
	client_sends(fixture, "\x00\x00\x00\x00\x00\x01\x02", 7);
	assert_int_equal(next(fixture), LINK_REQUEST);
	assert_int_equal(fixture->link.patience.left_bytes, 0);
	assert_int_equal(fixture->request.write_len, 2);
	assert_memory_equal(fixture->request.data, "\x01\x02", 2);
}

/* The times at which the kernel receives bytes. */

#define PAUSE_NS (20 * NS_PER_MS)
#define TRIES_MAX 200 /* the kernel begins to stamp packets some time after it is asked to */

struct pair {
	int sender;
	int reader;
};

/* Connects the pair, and sends bytes until one has a stamp: the first ones may have none. */
static void begin_stamps(struct pair *pair)
{
	struct arrival arrival = {0};
	char byte;

	connect_by_tcp(&pair->sender, &pair->reader, 0);
	assert_true(arrival_enable(pair->reader));
	for (int i = 0; i < TRIES_MAX && arrival.until_ns == 0; i++) {
		assert_int_equal(write(pair->sender, "", 1), 1);
		assert_int_equal(arrival_read(pair->reader, &byte, 1, &arrival), 1);
		pause_for(NS_PER_MS);
	}
	assert_true(arrival.until_ns > 0);
}

static void end_stamps(struct pair *pair)
{
	close(pair->sender);
	close(pair->reader);
}

FIXTURE(pair, begin_stamps, end_stamps);

static uint64_t now_ns(void)
{
	return clock_source_read_ns(CLOCK_SOURCE_MONOTONIC);
}

TEST_ON(pair, bytes_read_late_have_the_time_at_which_they_were_sent)
{
	struct arrival arrival;
	uint64_t before_ns;
	uint64_t after_ns;
	char bytes[4];

	before_ns = now_ns();
	assert_int_equal(write(pair->sender, "abc", 3), 3);
	after_ns = now_ns();
	pause_for(PAUSE_NS);
	assert_int_equal(arrival_read(pair->reader, bytes, sizeof(bytes), &arrival), 3);
	assert_memory_equal(bytes, "abc", 3);
	assert_true(arrival.since_ns <= arrival.until_ns);
	assert_true(arrival.until_ns >= before_ns);
	assert_true(arrival.since_ns <= after_ns);
	assert_true(now_ns() - arrival.since_ns >= PAUSE_NS);
}

TEST_ON(pair, bytes_sent_one_by_one_have_the_time_of_the_last)
{
	struct arrival arrival;
	uint64_t before_last_ns;
	char bytes[4];

	assert_int_equal(write(pair->sender, "a", 1), 1);
	pause_for(PAUSE_NS);
	before_last_ns = now_ns();
	assert_int_equal(write(pair->sender, "b", 1), 1);
	assert_int_equal(arrival_read(pair->reader, bytes, sizeof(bytes), &arrival), 2);
	assert_true(arrival.until_ns >= before_last_ns);
}

TEST(socket_without_stamps_has_no_arrival_times)
{
	struct arrival arrival = {.since_ns = 1, .until_ns = 2};
	char bytes[4];
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(write(fds[0], "a", 1), 1);
	assert_int_equal(arrival_read(fds[1], bytes, sizeof(bytes), &arrival), 1);
	assert_int_equal(arrival.since_ns, 0);
	assert_int_equal(arrival.until_ns, 0);
	close(fds[0]);
	close(fds[1]);
}

TEST(arrival_times_of_a_pipe_cannot_be_enabled)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_false(arrival_enable(fds[0]));
	close(fds[0]);
	close(fds[1]);
}
