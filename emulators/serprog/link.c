/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void link_init(struct link *link, int fd, int signal_fd, struct clock *clock,
	const struct serprog_limits *limits, uint8_t *buffer, uint64_t empty_ns)
{
	memset(link, 0, sizeof(*link));
	link->fd = fd;
	link->signal_fd = signal_fd;
	link->clock = clock;
	link->limits = limits;
	link->buffer = buffer;
	link->buffer_bytes = serprog_request_bytes_max(limits);
	link->empty_ns = empty_ns;
}

void link_deinit(struct link *link)
{
	close(link->fd);
	link->fd = -1;
}

/* LINK_REQUEST here means: go on. */
static enum link_status wait_for(struct link *link, short events)
{
	struct pollfd fds[] = {
		{.fd = link->fd, .events = events},
		{.fd = link->signal_fd, .events = POLLIN},
	};

	while (poll(fds, 2, -1) < 0) {
		if (errno != EINTR)
			return LINK_CLOSED;
	}
	return fds[1].revents ? LINK_STOPPED : LINK_REQUEST;
}

static void make_room(struct link *link)
{
	if (link->head == 0)
		return;
	memmove(link->buffer, link->buffer + link->head, link->tail - link->head);
	link->tail -= link->head;
	link->head = 0;
}

static void drop_skipped(struct link *link)
{
	size_t have = link->tail - link->head;
	size_t drop = have < link->skip_bytes ? have : link->skip_bytes;

	link->head += drop;
	link->skip_bytes -= (uint32_t)drop;
}

static enum link_status read_more(struct link *link)
{
	size_t room;
	ssize_t got;
	uint64_t before_ns;

	make_room(link);
	room = link->buffer_bytes - link->tail;
	before_ns = clock_now_ns(link->clock);
	got = recv(link->fd, link->buffer + link->tail, room, MSG_DONTWAIT);
	if (got > 0) {
		link->read_ns = clock_now_ns(link->clock);
		/* Fewer bytes than fit: the rest was not here when this read began. */
		link->drained_ns = (size_t)got < room ? before_ns : 0;
		link->tail += (size_t)got;
		return LINK_REQUEST;
	}
	if (got < 0 && errno == EINTR)
		return LINK_REQUEST;
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
		link->empty_ns = before_ns;
		return wait_for(link, POLLIN);
	}
	return LINK_CLOSED;
}

static enum serprog_parse parse_next(struct link *link, struct serprog_request *request)
{
	enum serprog_parse parse;

	drop_skipped(link);
	if (link->skip_bytes > 0)
		return SERPROG_PARSE_MORE;
	parse = serprog_parse(
		link->buffer + link->head, link->tail - link->head, link->limits, request);
	if (parse == SERPROG_PARSE_DONE) {
		link->head += request->size_bytes;
		link->skip_bytes = request->skip_bytes;
	}
	return parse;
}

enum link_status link_next(struct link *link, struct serprog_request *request)
{
	while (parse_next(link, request) == SERPROG_PARSE_MORE) {
		enum link_status status;

		if (link->drained_ns > 0)
			link->empty_ns = link->drained_ns;
		link->drained_ns = 0;
		status = read_more(link);
		if (status != LINK_REQUEST)
			return status;
	}
	return LINK_REQUEST;
}

enum link_status link_send(struct link *link, const uint8_t *bytes, size_t len, uint64_t *sent_ns)
{
	*sent_ns = clock_now_ns(link->clock);
	while (len > 0) {
		ssize_t sent = send(link->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent >= 0) {
			bytes += sent;
			len -= (size_t)sent;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			enum link_status status = wait_for(link, POLLOUT);

			if (status != LINK_REQUEST)
				return status;
		} else if (errno != EINTR) {
			return LINK_CLOSED;
		}
	}
	return LINK_REQUEST;
}
