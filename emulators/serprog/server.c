/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "link.h"

/* Blocks until @fd or @signal_fd can be read. Returns -ECANCELED if @signal_fd can. */
static int wait_readable(int fd, int signal_fd)
{
	struct pollfd fds[] = {
		{.fd = fd, .events = POLLIN},
		{.fd = signal_fd, .events = POLLIN},
	};

	while (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return fds[1].revents ? -ECANCELED : 0;
}

/* Reads @fd to its end. Returns the length, or a negative errno. */
static ssize_t read_all(int fd, int signal_fd, char *text, size_t size)
{
	size_t len = 0;

	for (;;) {
		int ret = wait_readable(fd, signal_fd);
		ssize_t got;

		if (ret < 0)
			return ret;
		got = read(fd, text + len, size - len);
		if (got == 0)
			return (ssize_t)len;
		if (got < 0)
			return -errno;
		len += (size_t)got;
		if (len == size)
			return -E2BIG;
	}
}

static int split(struct standby_words *words, size_t len)
{
	static char name[] = "serprog-emu";
	char *end = words->text + len;

	if (len > 0 && end[-1] != '\0')
		return -EINVAL;
	words->argv[0] = name;
	words->argc = 1;
	for (char *word = words->text; word < end; word += strlen(word) + 1) {
		if (words->argc == STANDBY_WORDS_MAX)
			return -E2BIG;
		words->argv[words->argc++] = word;
	}
	words->argv[words->argc] = NULL;
	return 0;
}

int standby_wait(const struct fd_pair *fds, int signal_fd, struct standby_words *words)
{
	ssize_t len = -EPIPE;

	if (write(fds->out, "", 1) == 1)
		len = read_all(fds->in, signal_fd, words->text, sizeof(words->text));

	close(fds->out);
	close(fds->in);
	return len < 0 ? (int)len : split(words, (size_t)len);
}

/* A long reply is sent in pieces of this size: 0.1 s each at 115200 baud. */
#define REPLY_PIECE_BYTES 1024

static void record_now(struct server *server, enum event_kind kind)
{
	struct event event = {.kind = kind, .read_ns = clock_now_ns(server->clock)};

	events_append(server->events, &event);
}

static void start_chip(struct server *server, uint64_t now_ns)
{
	events_start_chip(server->events, server->device->chip, server->start_state, now_ns);
	server->has_begun = true;
}

static bool starts_at(const struct server *server, enum start_moment moment)
{
	return !server->has_begun && server->start_state != START_READY &&
	       start_state_moment(server->start_state) == moment;
}

/* Puts the chip into its start state if that begins with this request, or just before it. */
static void start_at_request(
	struct server *server, const struct serprog_request *request, uint64_t now_ns)
{
	const bool turns_on = request->op == SERPROG_S_PIN_STATE && request->value != 0;

	if ((turns_on && starts_at(server, START_AT_PINS)) ||
		(request->op == SERPROG_O_SPIOP && starts_at(server, START_AT_COMMAND)))
		start_chip(server, now_ns);
}

/* Lets the process that started this one work between the connection and the first request. */
static int pass_barrier(struct server *server)
{
	struct event event = {.kind = EVENT_BARRIER};
	char byte;
	int ret;

	if (server->barrier.out < 0)
		return 0;
	event.read_ns = clock_now_ns(server->clock);
	if (write(server->barrier.out, "", 1) != 1)
		return -EPIPE;
	ret = wait_readable(server->barrier.in, server->signal_fd);
	if (ret == 0 && read(server->barrier.in, &byte, 1) != 1)
		ret = -EPIPE;
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

/*
 * A reply is built in the last third. The first two thirds hold it after faults, which can double
 * each byte.
 */
size_t server_reply_buffer_bytes(const struct serprog_limits *limits)
{
	return 3 * device_reply_bytes_max(limits);
}

/* Returns the fault of that kind that hits this request, and records it; NULL: none. */
static const struct fault *hit(const struct server *server, struct link *link, enum fault_kind kind)
{
	const struct fault *fault = NULL;

	if (server->faults->count > 0)
		fault = faults_hit(server->faults, kind, FAULT_AT_REQUEST);
	if (fault)
		link_report_fault(link, fault, server->faults->seen[FAULT_AT_REQUEST]);
	return fault;
}

/* Blocks until the hold time of a fault of that kind ends, which may be never. */
static enum link_status hold_up(struct server *server, struct link *link, enum fault_kind kind)
{
	const struct fault *fault = hit(server, link, kind);

	if (!fault)
		return LINK_REQUEST;
	if (fault->hold_ns == FAULT_FOR_EVER)
		return link_wait_until(link, FAULT_FOR_EVER);
	return link_wait_until(link, clock_now_ns(server->clock) + fault->hold_ns);
}

static enum link_status pass_line(
	struct server *server, struct link *link, const struct serprog_request *request)
{
	const struct link_model *model = &server->device->options.link;
	uint64_t bytes = request->size_bytes + request->skip_bytes;

	if (!link_model_takes_time(model))
		return LINK_REQUEST;
	server->line_free_ns =
		later(link->read_ns, server->line_free_ns) + link_model_line_ns(model, bytes);
	return link_wait_until(link, server->line_free_ns);
}

/* Waits until the device takes a request: for the line, the device's pause, and then the faults. */
static enum link_status take_request(
	struct server *server, struct link *link, const struct serprog_request *request)
{
	const struct device_quirks *quirks = &server->device->options.link.quirks;
	enum link_status status = pass_line(server, link, request);

	if (status == LINK_REQUEST && (quirks->cs_late_us > 0 || quirks->pause_us > 0))
		status = link_wait_until(
			link, server->device->cs_rises_ns + quirks->pause_us * UINT64_C(1000));
	if (status == LINK_REQUEST && hit(server, link, FAULT_HANG_UP))
		return LINK_CLOSED;
	return status == LINK_REQUEST ? hold_up(server, link, FAULT_STALL) : status;
}

/*
 * Returns when the work of the chip begins: at the read of the request, or now if a link or a fault
 * may have delayed it. It is never before the last reply or the last rise of chip select.
 */
static uint64_t start_ns(const struct server *server, const struct link *link)
{
	bool waited =
		server->faults->count > 0 || link_model_takes_time(&server->device->options.link);

	return later(waited ? clock_now_ns(server->clock) : link->read_ns,
		later(server->replied_ns, server->device->cs_rises_ns));
}

static size_t answer(struct server *server, struct link *link,
	const struct serprog_request *request, uint8_t *reply, struct event *event)
{
	if (!hit(server, link, FAULT_NAK)) {
		const uint64_t now_ns = start_ns(server, link);

		start_at_request(server, request, now_ns);
		return device_answer(server->device, request, now_ns, reply, event);
	}
	*event = (struct event){
		.kind = EVENT_SERPROG,
		.op = request->op,
		.name = serprog_name(request->op),
	};
	reply[0] = SERPROG_NAK;
	return 1;
}

/*
 * Sends a reply over a link that takes time. A long reply leaves in pieces, so that the client sees
 * it arrive, as on a real line. @sent_ns is the time at which the last piece was sent.
 */
static enum link_status carry_reply(struct server *server, struct link *link, const uint8_t *reply,
	size_t len, uint64_t *sent_ns)
{
	const struct link_model *model = &server->device->options.link;
	uint64_t way_ns = link_model_reply_ns(model, server->faults->seed, server->reply_count++);
	uint64_t ready_ns = clock_now_ns(server->clock) + way_ns;
	enum link_status status = LINK_REQUEST;
	size_t done = 0;

	do {
		size_t left = len - done;
		size_t size = left < REPLY_PIECE_BYTES ? left : REPLY_PIECE_BYTES;

		status =
			link_wait_until(link, link_model_delivery_ns(model, ready_ns, done + size));
		if (status == LINK_REQUEST)
			status = link_send(link, reply + done, size, sent_ns);
		else
			*sent_ns = clock_now_ns(server->clock);
		done += size;
	} while (status == LINK_REQUEST && done < len);
	return status;
}

/* Applies the faults of reply bytes. Returns the reply with them, and its length in @len. */
static const uint8_t *spoil_reply(
	struct server *server, struct link *link, const uint8_t *reply, size_t *len)
{
	if (!faults_touch(server->faults, FAULT_AT_REPLY_BYTE))
		return reply;
	*len = faults_pass(server->faults, FAULT_AT_REPLY_BYTE, reply, *len, server->reply_buffer,
		link_report_fault, link);
	return server->reply_buffer;
}

/* Counts requests in a row that are not for the part, and refused ones, for check_bounds(). */
static void count_request(struct server *server, const struct serprog_request *request,
	const struct event *event, size_t records_before)
{
	bool is_idle = event->kind == EVENT_SERPROG && server->events->count == records_before;

	server->idle_requests = is_idle ? server->idle_requests + 1 : 0;
	if (event->kind == EVENT_SERPROG && !event->ack)
		server->refused_requests += 1 + request->skip_bytes / SERVER_REFUSED_BYTES;
}

/*
 * Returns true if the reply may wait for the next one: the next request has already arrived, is a
 * transfer, and takes no time. In one segment, both replies cost client and server half as much.
 */
static bool leaves_with_the_next(const struct server *server, const struct link *link)
{
	struct serprog_request next;

	if (server->faults->count > 0 || server->device->options.spi_wire_time)
		return false;
	return link_peek(link, &next) && next.op == SERPROG_O_SPIOP;
}

static enum link_status give_reply(struct server *server, struct link *link, const uint8_t *reply,
	size_t len, uint64_t *sent_ns)
{
	if (len == 0) { /* the device stays silent, so the link takes no time */
		*sent_ns = clock_now_ns(server->clock);
		return link_release(link);
	}
	if (link_model_takes_time(&server->device->options.link))
		return carry_reply(server, link, reply, len, sent_ns);
	if (leaves_with_the_next(server, link) && link_hold(link, reply, len, sent_ns))
		return LINK_REQUEST;
	return link_send(link, reply, len, sent_ns);
}

/* Answers a request. Appends its record after the reply, so that the client does not wait. */
static enum link_status answer_request(
	struct server *server, struct link *link, const struct serprog_request *request)
{
	uint8_t *reply = server->reply_buffer + 2 * device_reply_bytes_max(&server->device->limits);
	struct event event;
	enum link_status status;
	size_t first = server->events->count;
	size_t len = answer(server, link, request, reply, &event);

	if (link->acked_first && len != DEVICE_ABANDONED) {
		reply++;
		len--;
	}

	event.empty_ns = link->empty_ns;
	event.read_ns = link->read_ns;
	event.arrived_ns = link->arrived_ns;
	event.reply_ns = 0;
	status = len == DEVICE_ABANDONED ? link_ended(link) : hold_up(server, link, FAULT_DELAY);
	if (status == LINK_REQUEST) {
		const uint8_t *left = spoil_reply(server, link, reply, &len);

		status = give_reply(server, link, left, len, &event.reply_ns);
	} else {
		event.reply_ns = clock_now_ns(server->clock);
	}
	server->replied_ns = event.reply_ns;
	events_stamp(server->events, first, &event);
	count_request(server, request, &event, first);
	events_append(server->events, &event);
	return status;
}

static enum link_status serve_request(
	struct server *server, struct link *link, const struct serprog_request *request)
{
	enum link_status status;

	faults_count(server->faults, FAULT_AT_REQUEST);
	status = take_request(server, link, request);
	if (status == LINK_REQUEST)
		status = answer_request(server, link, request);
	clock_tick(server->clock);
	return status;
}

/* Hangs up on the client. The event and the message name the bound that it reached. */
static void give_up(struct server *server, const char *name, const char *what, size_t bound)
{
	struct event event = {
		.kind = EVENT_GAVE_UP,
		.read_ns = clock_now_ns(server->clock),
		.name = name,
		.bound = bound,
	};

	events_append(server->events, &event);
	server->gave_up = true;
	if (server->barrier.out >= 0 && write(server->barrier.out, "", 1) != 1)
		fprintf(stderr, "serprog-emu: cannot report this at --barrier-fds\n");
	fprintf(stderr, "serprog-emu: hung up on the client: %s reached the bound of %zu\n", what,
		bound);
}

/* Hangs up on a client that reached a bound: it could go on until memory or time runs out. */
static void check_bounds(struct server *server)
{
	if (server->events->count >= server->records_max)
		give_up(server, "records", "--records-max: the records", server->records_max);
	else if (server->idle_requests >= SERVER_IDLE_REQUESTS_MAX)
		give_up(server, "idle-requests", "requests in a row that are not for the part",
			SERVER_IDLE_REQUESTS_MAX);
	else if (server->refused_requests >= SERVER_REFUSED_REQUESTS_MAX)
		give_up(server, "refused-requests", "requests that it must refuse",
			SERVER_REFUSED_REQUESTS_MAX);
}

static enum link_status serve_link(struct server *server, struct link *link)
{
	struct serprog_request request;
	enum link_status status;

	do {
		status = link_next(link, &request);
		if (status == LINK_REQUEST)
			status = serve_request(server, link, &request);
		if (status == LINK_REQUEST)
			check_bounds(server);
	} while (status == LINK_REQUEST && !server->gave_up);
	return status == LINK_REQUEST ? link_release(link) : status;
}

static int serve_connection(struct server *server, int fd)
{
	struct link link = {
		.fd = fd,
		.signal_fd = server->signal_fd,
		.clock = server->clock,
		.limits = &server->device->limits,
		.device = server->device,
		.faults = server->faults,
		.events = server->events,
		.refusing = server->refuses ? server->listener : NULL,
		.buffer = server->request_buffer,
		.empty_ns = server->empty_ns,
		.wake_ns_max = server->wake_ns_max,
		.patience.wake_suffices = server->wake_suffices,
	};
	enum link_status status;
	int ret;

	record_now(server, EVENT_ACCEPT);
	server->idle_requests = 0;
	server->refused_requests = 0;
	server->gave_up = false;
	device_reconnect(server->device);
	link_init(&link);
	server->clock->peer_fd = fd;
	ret = pass_barrier(server);
	if (starts_at(server, START_AT_CONNECT))
		start_chip(server, clock_now_ns(server->clock));
	if (ret == 0) {
		status = serve_link(server, &link);
		ret = status == LINK_STOPPED ? -ECANCELED : 0;
	}
	server->cut_off = ret == -ECANCELED;
	record_now(server, EVENT_DISCONNECT);
	server->held_up |= link.patience.held_up;
	server->clock->peer_fd = -1;
	link_deinit(&link);
	return ret;
}

int server_run(struct server *server, unsigned int client_count)
{
	int ret = 0;

	server->clock->stop_fd = server->signal_fd;
	/* The kernel begins to stamp bytes only some time after this call, so call it now. */
	if (server->clock->source == CLOCK_SOURCE_MONOTONIC)
		arrival_enable(server->listener->fd);
	for (unsigned int i = 0; ret == 0 && (client_count == 0 || i < client_count); i++) {
		int fd;

		if (server->events->count >= server->records_max)
			break;
		ret = listener_accept(
			server->listener, server->signal_fd, server->clock, &fd, &server->empty_ns);
		if (ret == 0)
			ret = serve_connection(server, fd);
	}
	return ret == -ECANCELED ? 0 : ret;
}
