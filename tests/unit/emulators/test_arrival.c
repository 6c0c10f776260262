/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../cases.h"
#include "serprog/link.h"

#define NS_PER_MS UINT64_C(1000000)
#define PAUSE_NS (20 * NS_PER_MS)
/* The kernel begins to stamp packets some time after it is asked to. */
#define TRIES_MAX 200

struct pair {
	int sender;
	int reader;
};

static uint64_t now_ns(void)
{
	return clock_source_read_ns(CLOCK_SOURCE_MONOTONIC);
}

static void pause_for(uint64_t ns)
{
	const struct timespec time = {.tv_nsec = (long)ns};

	nanosleep(&time, NULL);
}

static struct pair connect_pair(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct pair pair = {.sender = socket(AF_INET, SOCK_STREAM, 0)};
	int on = 1;

	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(connect(pair.sender, (struct sockaddr *)&address, sizeof(address)), 0);
	setsockopt(pair.sender, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	pair.reader = accept(listener, NULL, NULL);
	assert_true(pair.reader >= 0);
	close(listener);
	return pair;
}

static void disconnect(struct pair pair)
{
	close(pair.sender);
	close(pair.reader);
}

/* Sends bytes until one has a stamp: the first ones may have none. */
static void await_stamps(struct pair pair)
{
	struct arrival arrival = {0};
	char byte;

	for (int i = 0; i < TRIES_MAX && arrival.until_ns == 0; i++) {
		assert_int_equal(write(pair.sender, "", 1), 1);
		assert_int_equal(arrival_read(pair.reader, &byte, 1, &arrival), 1);
		pause_for(NS_PER_MS);
	}
	assert_true(arrival.until_ns > 0);
}

static void bytes_read_late_are_known_to_have_come_when_they_were_sent(void)
{
	struct pair pair = connect_pair();
	struct arrival arrival;
	uint64_t before_ns;
	uint64_t after_ns;
	char bytes[4];

	assert_true(arrival_enable(pair.reader));
	await_stamps(pair);
	before_ns = now_ns();
	assert_int_equal(write(pair.sender, "abc", 3), 3);
	after_ns = now_ns();
	pause_for(PAUSE_NS);
	assert_int_equal(arrival_read(pair.reader, bytes, sizeof(bytes), &arrival), 3);
	assert_memory_equal(bytes, "abc", 3);
	assert_true(arrival.since_ns <= arrival.until_ns);
	assert_true(arrival.until_ns >= before_ns);
	assert_true(arrival.since_ns <= after_ns);
	assert_true(now_ns() - arrival.since_ns >= PAUSE_NS);
	disconnect(pair);
}

static void bytes_that_came_one_by_one_have_the_moment_of_the_last(void)
{
	struct pair pair = connect_pair();
	struct arrival arrival;
	uint64_t before_last_ns;
	char bytes[4];

	assert_true(arrival_enable(pair.reader));
	await_stamps(pair);
	assert_int_equal(write(pair.sender, "a", 1), 1);
	pause_for(PAUSE_NS);
	before_last_ns = now_ns();
	assert_int_equal(write(pair.sender, "b", 1), 1);
	assert_int_equal(arrival_read(pair.reader, bytes, sizeof(bytes), &arrival), 2);
	assert_true(arrival.until_ns >= before_last_ns);
	disconnect(pair);
}

static void socket_that_is_not_stamped_tells_nothing(void)
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

static void file_that_is_no_socket_cannot_be_enabled(void)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_false(arrival_enable(fds[0]));
	close(fds[0]);
	close(fds[1]);
}

static const struct CMUnitTest tests[] = {
	CASE(bytes_read_late_are_known_to_have_come_when_they_were_sent),
	CASE(bytes_that_came_one_by_one_have_the_moment_of_the_last),
	CASE(socket_that_is_not_stamped_tells_nothing),
	CASE(file_that_is_no_socket_cannot_be_enabled),
};

RUN_CASES(tests)
