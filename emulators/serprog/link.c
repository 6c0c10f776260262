/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link.h"
#include "shared/timespec.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * The time at which bytes arrived at a socket: the kernel's stamp, converted to CLOCK_MONOTONIC. It
 * does not depend on when the scheduler runs the reader.
 *
 * The kernel stamps the bytes of a TCP connection (SO_TIMESTAMPNS, since Linux 4.16). On the
 * loopback interface it does so within the sender's call. A stamp has the time of the wall clock,
 * so the wall clock is compared with CLOCK_MONOTONIC after each read.
 */

bool arrival_enable(int fd)
{
	int on = 1;

	return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) == 0;
}

/*
 * Reads the wall clock between two readings of CLOCK_MONOTONIC, so that a pause between the
 * readings widens the interval, but does not shift it. Ignores a stamp from the future or from
 * before the start of CLOCK_MONOTONIC, because then the wall clock was stepped.
 */
static void convert(const struct timespec *stamp, struct arrival *arrival)
{
	uint64_t before_ns = monotonic_ns();
	struct timespec wall;
	uint64_t after_ns;
	uint64_t age_ns;

	clock_gettime(CLOCK_REALTIME, &wall);
	after_ns = monotonic_ns();
	age_ns = timespec_ns(&wall) - timespec_ns(stamp);
	if (age_ns > before_ns) /* or negative */
		return;
	arrival->since_ns = before_ns - age_ns;
	arrival->until_ns = after_ns - age_ns;
}

static void take_stamp(struct msghdr *message, struct arrival *arrival)
{
	struct cmsghdr *control;

	for (control = CMSG_FIRSTHDR(message); control; control = CMSG_NXTHDR(message, control)) {
		struct timespec stamp;

		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&stamp, CMSG_DATA(control), sizeof(stamp));
		convert(&stamp, arrival);
	}
}

ssize_t arrival_read(int fd, void *bytes, size_t size, struct arrival *arrival)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct timespec))];
	} control;
	struct iovec part = {.iov_base = bytes, .iov_len = size};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got = recvmsg(fd, &message, 0);

	*arrival = (struct arrival){0};
	if (got > 0)
		take_stamp(&message, arrival);
	return got;
}

/*
 * An upper bound of the time from the kernel's stamp until a read can find the bytes, which is 0.1
 * us or as long as a softirq takes.
 */
#define QUEUED_NS NS_PER_MS

/* Faults may duplicate every byte. */
size_t link_buffer_bytes(const struct serprog_limits *limits)
{
	return 2 * serprog_request_bytes_max(limits) + 2;
}

void link_init(struct link *link)
{
	link->buffer_bytes = link_buffer_bytes(link->limits);
	patience_init(&link->patience);
	link->stamped = link->clock->source == CLOCK_SOURCE_MONOTONIC && arrival_enable(link->fd);
}

static bool is_scripted(const struct link *link)
{
	return link->clock->source == CLOCK_SOURCE_SCRIPTED;
}

/* If a client cannot be turned away, it waits, like all later ones. */
static void turn_away(struct link *link)
{
	struct event event = {.kind = EVENT_REFUSED, .read_ns = clock_now_ns(link->clock)};
	int ret = listener_turn_away(link->refusing);

	if (ret == 0)
		events_append(link->events, &event);
	else if (ret != -EAGAIN)
		link->refusing = NULL;
}

/*
 * Sleeps until @events or a signal. Returns LINK_REQUEST if the link can still be used. A
 * @timeout_ms of -1 means no timeout. Sets link->overslept if the sleep ended without either.
 */
static enum link_status wait_for(struct link *link, short events, int timeout_ms)
{
	struct pollfd fds[] = {
		{.fd = link->fd, .events = events},
		{.fd = link->signal_fd, .events = POLLIN},
		{.fd = link->refusing ? link->refusing->fd : -1, .events = POLLIN},
	};

	do {
		int ready = poll(fds, 3, timeout_ms);

		if (ready < 0 && errno != EINTR)
			return LINK_CLOSED;
		if (ready > 0 && fds[2].revents) {
			turn_away(link);
			fds[2].fd = link->refusing ? fds[2].fd : -1;
		}
		link->overslept = !fds[0].revents && !fds[1].revents;
	} while (link->overslept && timeout_ms < 0);
	return fds[1].revents ? LINK_STOPPED : LINK_REQUEST;
}

/* Sleeps for at most @timeout_ms. Returns LINK_REQUEST if neither a hang-up nor a stop came. */
static enum link_status wait_ms(struct link *link, int timeout_ms)
{
	struct pollfd fds[] = {
		{.fd = link->fd, .events = POLLRDHUP},
		{.fd = link->signal_fd, .events = POLLIN},
	};
	int ready = poll(fds, 2, timeout_ms);

	if (ready < 0)
		return errno == EINTR ? LINK_REQUEST : LINK_CLOSED;
	if (ready == 0)
		return LINK_REQUEST;
	return fds[1].revents ? LINK_STOPPED : LINK_CLOSED;
}

enum link_status link_ended(const struct link *link)
{
	struct pollfd stop = {.fd = link->signal_fd, .events = POLLIN};

	return poll(&stop, 1, 0) > 0 ? LINK_STOPPED : LINK_CLOSED;
}

static int timeout_ms(uint64_t left_ns, uint64_t deadline_ns)
{
	uint64_t ms = (left_ns - CLOCK_EXACT_NS / 2) / NS_PER_MS;

	if (deadline_ns == FAULT_FOR_EVER)
		return -1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static enum link_status write_all(struct link *link, const uint8_t *bytes, size_t len)
{
	while (len > 0) {
		ssize_t sent = write(link->fd, bytes, len);

		if (sent >= 0) {
			bytes += sent;
			len -= (size_t)sent;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			enum link_status status = wait_for(link, POLLOUT, -1);

			if (status != LINK_REQUEST)
				return status;
		} else if (errno != EINTR) {
			return LINK_CLOSED;
		}
	}
	return LINK_REQUEST;
}

enum link_status link_release(struct link *link)
{
	size_t len = link->held_bytes;

	if (len == 0)
		return LINK_REQUEST;
	link->held_bytes = 0;
	return write_all(link, link->held, len);
}

bool link_hold(struct link *link, const uint8_t *bytes, size_t len, uint64_t *sent_ns)
{
	if (len > sizeof(link->held) - link->held_bytes)
		return false;
	*sent_ns = clock_now_ns(link->clock);
	memcpy(link->held + link->held_bytes, bytes, len);
	link->held_bytes += len;
	return true;
}

enum link_status link_send(struct link *link, const uint8_t *bytes, size_t len, uint64_t *sent_ns)
{
	enum link_status status;

	if (link->held_bytes > 0 && link_hold(link, bytes, len, sent_ns))
		return link_release(link);
	*sent_ns = clock_now_ns(link->clock);
	status = link_release(link);
	return status == LINK_REQUEST ? write_all(link, bytes, len) : status;
}

enum link_status link_wait_until(struct link *link, uint64_t deadline_ns)
{
	for (;;) {
		uint64_t now_ns = clock_now_ns(link->clock);
		enum link_status status;

		if (now_ns >= deadline_ns)
			return LINK_REQUEST;
		status = link_release(link);
		if (status != LINK_REQUEST)
			return status;
		if (deadline_ns != FAULT_FOR_EVER &&
			(is_scripted(link) || deadline_ns - now_ns <= CLOCK_EXACT_NS)) {
			clock_wait_until(link->clock, deadline_ns); /* nothing can end this wait */
			return LINK_REQUEST;
		}
		status = wait_ms(link, timeout_ms(deadline_ns - now_ns, deadline_ns));
		if (status != LINK_REQUEST)
			return status;
	}
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

void link_report_fault(void *context, const struct fault *fault, uint64_t nth)
{
	const struct link *link = (const struct link *)context;
	struct event event = {
		.kind = EVENT_FAULT,
		.read_ns = clock_now_ns(link->clock),
		.name = fault_kind_name(fault->kind),
		.fault_at = fault_at_name(fault->at),
		.fault_nth = nth,
		.fault_ns = fault->hold_ns,
	};

	events_append(link->events, &event);
}

/* Appends @in to the buffer. @in lies in its free end, behind room for twice the @len bytes. */
static void take_in(struct link *link, const uint8_t *in, size_t len)
{
	uint8_t *out = link->buffer + link->tail;

	if (faults_touch(link->faults, FAULT_AT_REQUEST_BYTE)) {
		link->tail += faults_pass(
			link->faults, FAULT_AT_REQUEST_BYTE, in, len, out, link_report_fault, link);
		return;
	}
	memmove(out, in, len);
	link->tail += len;
}

/* Raises empty_ns: bytes that end a sleep arrived at most wake_ns_max before read_ns. */
static void narrow_arrival(struct link *link)
{
	uint64_t since_ns;

	if (!link->awaited || link->wake_ns_max == 0 || link->read_ns < link->wake_ns_max)
		return;
	since_ns = link->read_ns - link->wake_ns_max;
	if (since_ns > link->empty_ns)
		link->empty_ns = since_ns;
}

static enum link_status sleep_for_bytes(struct link *link)
{
	int timeout_ms = patience_begin_ms(&link->patience, link->fd);
	enum link_status status = wait_for(link, POLLIN, timeout_ms);

	if (link->overslept)
		patience_end(&link->patience, link->fd);
	link->awaited = status == LINK_REQUEST && !link->overslept;
	return status;
}

static ssize_t read_bytes(struct link *link, uint8_t *in, size_t room)
{
	/* If faults add bytes, the buffer may have no room to read the same bytes once more. */
	if (link->patience.patient && !faults_touch(link->faults, FAULT_AT_REQUEST_BYTE))
		return patience_read(&link->patience, link->fd, in, room);
	if (link->stamped)
		return arrival_read(link->fd, in, room, &link->arrival);
	return read(link->fd, in, room);
}

/* Removes from the socket the bytes that were only peeked at. Overwrites the buffer's free end. */
static void remove_peeked(struct link *link)
{
	patience_take(&link->patience, link->fd, link->buffer + link->tail);
}

/* Closing a socket with unread bytes resets the connection, and the client may lose its reply. */
void link_deinit(struct link *link)
{
	remove_peeked(link);
	close(link->fd);
	link->fd = -1;
}

static enum link_status read_more(struct link *link)
{
	size_t room;
	ssize_t got;
	uint64_t before_ns;
	uint8_t *in;

	make_room(link);
	room = (link->buffer_bytes - link->tail) / 2;
	in = link->buffer + link->tail + room;
	before_ns = clock_now_ns(link->clock);
	got = read_bytes(link, in, room);
	if (got > 0) {
		link->read_ns = clock_now_ns(link->clock);
		/* Fewer bytes than fit: the socket had no more of them when this read began. */
		link->drained_ns = (size_t)got < room ? before_ns : 0;
		/* A scripted clock stands still in a sleep: records must not depend on sleeps. */
		if (is_scripted(link))
			link->empty_ns = before_ns;
		narrow_arrival(link);
		patience_note_bytes(&link->patience, in, (size_t)got);
		link->awaited = false;
		take_in(link, in, (size_t)got);
		return LINK_REQUEST;
	}
	if (got < 0 && errno == EINTR)
		return LINK_REQUEST;
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
		link->empty_ns = before_ns;
		return sleep_for_bytes(link);
	}
	return LINK_CLOSED;
}

bool link_peek(const struct link *link, struct serprog_request *request)
{
	return link->skip_bytes == 0 && link->head < link->tail &&
	       serprog_parse(
		       link->buffer + link->head, link->tail - link->head, link->limits, request);
}

static bool parse_next(struct link *link, struct serprog_request *request)
{
	drop_skipped(link);
	if (!link_peek(link, request))
		return false;
	link->head += request->size_bytes;
	link->skip_bytes = request->skip_bytes;
	return true;
}

/* Uses the stamp of the last byte that was read, if that byte is the end of the request. */
static void take_arrival(struct link *link)
{
	const struct arrival *arrival = &link->arrival;

	link->arrived_ns = 0;
	if (link->head < link->tail || arrival->until_ns == 0)
		return;
	/* If the stamp is outside these bounds, the wall clock was stepped after it. */
	if (arrival->since_ns > link->read_ns || arrival->until_ns + QUEUED_NS < link->empty_ns)
		return;
	link->empty_ns = arrival->since_ns;
	link->arrived_ns = arrival->until_ns < link->read_ns ? arrival->until_ns : link->read_ns;
}

/*
 * Sends the ACK of an opcode whose arguments have not arrived, if the firmware does that. Otherwise
 * sends the held replies.
 */
static enum link_status ack_first(struct link *link)
{
	static const uint8_t ack = SERPROG_ACK;
	uint64_t sent_ns;

	if (!link->device || link->acked_first || link->skip_bytes > 0 ||
		link->head == link->tail ||
		!device_acks_first(link->device, link->buffer[link->head]))
		return link_release(link);
	link->acked_first = true;
	return link_send(link, &ack, 1, &sent_ns);
}

enum link_status link_next(struct link *link, struct serprog_request *request)
{
	link->acked_first = false;
	while (!parse_next(link, request)) {
		bool must_sleep = !link->awaited && patience_expects_nothing(&link->patience);
		enum link_status status = ack_first(link);

		if (link->drained_ns > 0)
			link->empty_ns = link->drained_ns;
		link->drained_ns = 0;
		remove_peeked(link);
		if (status == LINK_REQUEST)
			status = must_sleep ? sleep_for_bytes(link) : read_more(link);
		if (status != LINK_REQUEST)
			return status;
	}
	take_arrival(link);
	patience_note_request(
		&link->patience, request, link->head == link->tail && link->skip_bytes == 0);
	return LINK_REQUEST;
}
