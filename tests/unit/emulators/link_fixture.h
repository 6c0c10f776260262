/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A link and its client. The stop signal is always pending, so a link that would sleep returns
 * instead: each call shows where it would sleep. Only the tests include this.
 */
#ifndef TESTS_UNIT_EMULATORS_LINK_FIXTURE_H
#define TESTS_UNIT_EMULATORS_LINK_FIXTURE_H

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
	struct faults faults;
	struct events events;
	uint8_t buffer[128];
	struct serprog_request request;
	uint64_t born_ns;
};

static inline int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	assert_int_equal(pipe(fixture->stop_fds), 0);
	assert_int_equal(write(fixture->stop_fds[1], "", 1), 1);
	assert_int_equal(clock_init(&fixture->clock, CLOCK_SOURCE_MONOTONIC), 0);
	fixture->host_fd = fds[0];
	fixture->born_ns = clock_now_ns(&fixture->clock);
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
		.empty_ns = fixture->born_ns,
	};
	link_init(&fixture->link);
	*state = fixture;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *fixture = *state;

	link_deinit(&fixture->link);
	events_deinit(&fixture->events);
	close(fixture->host_fd);
	close(fixture->stop_fds[0]);
	close(fixture->stop_fds[1]);
	free(fixture);
	return 0;
}

#define WITH_LINK(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static inline void host_sends(const struct fixture *fixture, const char *bytes, size_t len)
{
	assert_int_equal(write(fixture->host_fd, bytes, len), len);
}

/* Returns the length of what the client has received so far, up to 128 bytes; -1 for nothing. */
static inline ssize_t host_gets(const struct fixture *fixture, char *bytes)
{
	return read(fixture->host_fd, bytes, 128);
}

static inline enum link_status next(struct fixture *fixture)
{
	return link_next(&fixture->link, &fixture->request);
}

#endif
