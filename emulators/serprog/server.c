/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "link.h"
#include "listener.h"

static void record_moment(struct server *server, enum event_kind kind)
{
	struct event event = {.kind = kind, .read_ns = clock_now_ns(server->clock)};

	events_append(server->events, &event);
}

static int wait_for_release(const struct server *server)
{
	struct pollfd fds[] = {
		{.fd = server->barrier_in_fd, .events = POLLIN},
		{.fd = server->signal_fd, .events = POLLIN},
	};
	char byte;

	while (poll(fds, 2, -1) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (fds[1].revents)
		return -ECANCELED;
	return read(server->barrier_in_fd, &byte, 1) == 1 ? 0 : -EPIPE;
}

/* Whoever started us does what it must between the connection and the first request. */
static int pass_barrier(struct server *server)
{
	struct event event = {.kind = EVENT_BARRIER};
	int ret;

	if (server->barrier_out_fd < 0)
		return 0;
	event.read_ns = clock_now_ns(server->clock);
	if (write(server->barrier_out_fd, "", 1) != 1)
		return -EPIPE;
	ret = wait_for_release(server);
	if (ret < 0)
		return ret;
	event.reply_ns = clock_now_ns(server->clock);
	events_append(server->events, &event);
	return 0;
}

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* The record is made after the reply left, when the host has something else to do. */
static enum link_status serve_request(
	struct server *server, struct link *link, const struct serprog_request *request)
{
	struct event event;
	enum link_status status;
	size_t first = server->events->count;
	uint64_t start_ns = later(link->read_ns, server->replied_ns);
	size_t len = device_answer(server->device, request, start_ns, server->reply_buffer, &event);

	event.empty_ns = link->empty_ns;
	event.read_ns = link->read_ns;
	status = link_send(link, server->reply_buffer, len, &event.reply_ns);
	server->replied_ns = event.reply_ns;
	events_stamp(server->events, first, &event);
	events_append(server->events, &event);
	return status;
}

static enum link_status serve_link(struct server *server, struct link *link)
{
	struct serprog_request request;
	enum link_status status;

	do {
		status = link_next(link, &request);
		if (status == LINK_REQUEST)
			status = serve_request(server, link, &request);
	} while (status == LINK_REQUEST);
	return status;
}

static int serve_connection(struct server *server, int fd)
{
	struct link link;
	enum link_status status;
	int ret;

	record_moment(server, EVENT_ACCEPT);
	device_reconnect(server->device);
	link_init(&link, fd, server->signal_fd, server->clock,
		device_limits(server->device->chip->part), server->request_buffer,
		server->empty_ns);
	ret = pass_barrier(server);
	if (ret == 0) {
		status = serve_link(server, &link);
		ret = status == LINK_STOPPED ? -ECANCELED : 0;
	}
	record_moment(server, EVENT_DISCONNECT);
	link_deinit(&link);
	return ret;
}

int server_run(struct server *server, unsigned int client_count)
{
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && (client_count == 0 || i < client_count); i++) {
		int fd;

		ret = listener_accept(server->listener_fd, server->signal_fd, server->clock, &fd,
			&server->empty_ns);
		if (ret == 0)
			ret = serve_connection(server, fd);
	}
	return ret == -ECANCELED ? 0 : ret;
}
