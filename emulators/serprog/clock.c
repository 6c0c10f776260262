/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "listener.h"
#include "serprog/counter.h"
#include "shared/timespec.h"

#define STEP_READINGS 1000

uint64_t clock_source_read_ns(enum clock_source source)
{
#ifdef COUNTER_NAME
	if (source == CLOCK_SOURCE_COUNTER)
		return counter_read_ns();
#else
	assert(source != CLOCK_SOURCE_COUNTER);
#endif
	return monotonic_ns();
}

static uint64_t read_now_ns(const struct clock *clock)
{
	return clock->source == CLOCK_SOURCE_SCRIPTED ? clock->scripted_ns
						      : clock_source_read_ns(clock->source);
}

uint64_t clock_now_ns(struct clock *clock)
{
	uint64_t now_ns = read_now_ns(clock);

	if (now_ns < clock->last_ns) {
		clock->backward_count++;
		return clock->last_ns;
	}
	clock->last_ns = now_ns;
	return now_ns;
}

static uint64_t measure_step_ns(struct clock *clock)
{
	uint64_t step_ns = UINT64_MAX;
	uint64_t before_ns = clock_now_ns(clock);

	for (int i = 0; i < STEP_READINGS; i++) {
		uint64_t now_ns = clock_now_ns(clock);

		if (now_ns > before_ns && now_ns - before_ns < step_ns)
			step_ns = now_ns - before_ns;
		before_ns = now_ns;
	}
	return step_ns;
}

int clock_init(struct clock *clock, enum clock_source source)
{
#ifndef COUNTER_NAME
	if (source == CLOCK_SOURCE_COUNTER)
		return -ENOTSUP;
#endif
	*clock = (struct clock){.source = source, .stop_fd = -1, .peer_fd = -1};
	/* A coarse clock may need more readings than these until it steps. */
	do
		clock->step_ns = measure_step_ns(clock);
	while (clock->step_ns == UINT64_MAX);
	return 0;
}

void clock_init_scripted(struct clock *clock, uint64_t step_ns)
{
	*clock = (struct clock){
		.source = CLOCK_SOURCE_SCRIPTED,
		.step_ns = step_ns,
		.scripted_ns = CLOCK_SCRIPTED_START_NS,
		.stop_fd = -1,
		.peer_fd = -1,
	};
}

void clock_tick(struct clock *clock)
{
	if (clock->source == CLOCK_SOURCE_SCRIPTED)
		clock->scripted_ns += clock->step_ns;
}

/* Returns true if stop_fd or peer_fd ended the sleep. After an error the caller sleeps again. */
static bool sleep_ns(const struct clock *clock, uint64_t ns)
{
	struct pollfd fds[] = {
		{.fd = clock->stop_fd, .events = POLLIN},
		{.fd = clock->peer_fd, .events = POLLRDHUP},
	};
	const struct timespec timeout = timespec_of(ns);

	return ppoll(fds, sizeof(fds) / sizeof(fds[0]), &timeout, NULL) > 0;
}

int clock_wait_until(struct clock *clock, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_now_ns(clock);

	if (clock->source == CLOCK_SOURCE_SCRIPTED && now_ns < deadline_ns) {
		clock->scripted_ns = deadline_ns;
		return 0;
	}
	while (now_ns < deadline_ns) {
		uint64_t left_ns = deadline_ns - now_ns;

		if (left_ns > CLOCK_EXACT_NS && sleep_ns(clock, left_ns - CLOCK_EXACT_NS / 2))
			return -ECANCELED;
		now_ns = clock_now_ns(clock);
	}
	return 0;
}

const char *clock_source_name(enum clock_source source)
{
	static const char *const names[] = {
		[CLOCK_SOURCE_MONOTONIC] = "monotonic",
#ifdef COUNTER_NAME
		[CLOCK_SOURCE_COUNTER] = COUNTER_NAME,
#else
		[CLOCK_SOURCE_COUNTER] = "counter",
#endif
		[CLOCK_SOURCE_SCRIPTED] = "scripted",
	};

	return names[source];
}

/* The first rounds take longer, because they fault code in and fill caches. */
#define WARM_UP_ROUNDS 4

/* Small, because a process that locks its memory would lock 8 MiB of default stack. */
#define STACK_BYTES ((size_t)64 * 1024)

struct sender {
	int fd;
	enum clock_source source;
	unsigned int round_count;
};

/* Sends the time of sending, then waits for the answer. */
static void *run_sender(void *context)
{
	const struct sender *sender = context;

	for (unsigned int i = 0; i < sender->round_count; i++) {
		uint64_t sent_ns = clock_source_read_ns(sender->source);
		char answer;

		if (send(sender->fd, &sent_ns, sizeof(sent_ns), MSG_NOSIGNAL) < 0 ||
			recv(sender->fd, &answer, sizeof(answer), 0) != sizeof(answer))
			break;
	}
	return NULL;
}

static int start_sender(struct sender *sender, pthread_t *thread)
{
	struct sched_param param = {.sched_priority = 0};
	pthread_attr_t attr;
	int ret = -pthread_attr_init(&attr);

	if (ret < 0)
		return ret;
	/* The CPU is inherited, the realtime priority must not be. */
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &param);
	ret = -pthread_create(thread, &attr, run_sender, sender);
	pthread_attr_destroy(&attr);
	return ret;
}

/* Reads as link.c does: tries to read, sleeps in poll(), reads, and takes the time. */
static int receive(int fd, enum clock_source source, uint64_t *latency_ns)
{
	struct pollfd fds = {.fd = fd, .events = POLLIN};
	uint64_t sent_ns;
	uint64_t now_ns;
	ssize_t got;

	while ((got = recv(fd, &sent_ns, sizeof(sent_ns), MSG_DONTWAIT)) < 0) {
		if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		poll(&fds, 1, -1);
	}
	now_ns = clock_source_read_ns(source);
	if (got != sizeof(sent_ns))
		return -EPIPE;
	*latency_ns = now_ns - sent_ns;
	return send(fd, "", 1, MSG_NOSIGNAL) == 1 ? 0 : -EPIPE;
}

static int measure_rounds(
	int fd, enum clock_source source, unsigned int round_count, struct wake_latency *latency)
{
	struct wake_latency measured = {.ns_min = UINT64_MAX};

	for (unsigned int i = 0; i < round_count; i++) {
		uint64_t latency_ns = 0;
		int ret = receive(fd, source, &latency_ns);

		if (ret < 0)
			return ret;
		if (i < WARM_UP_ROUNDS)
			continue;
		if (latency_ns < measured.ns_min)
			measured.ns_min = latency_ns;
		if (latency_ns > measured.ns_max)
			measured.ns_max = latency_ns;
	}
	*latency = measured;
	return 0;
}

static int measure_connected(int receiver_fd, int sender_fd, enum clock_source source,
	unsigned int round_count, struct wake_latency *latency)
{
	struct sender sender = {
		.fd = sender_fd,
		.source = source,
		.round_count = round_count + WARM_UP_ROUNDS,
	};
	pthread_t thread;
	int ret = start_sender(&sender, &thread);

	if (ret < 0)
		return ret;
	ret = measure_rounds(receiver_fd, source, sender.round_count, latency);
	shutdown(receiver_fd, SHUT_RDWR); /* a sender that still waits ends here */
	pthread_join(thread, NULL);
	return ret;
}

static int connect_to(int listener_fd)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (getsockname(listener_fd, (struct sockaddr *)&address, &len) < 0 ||
		connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

static int accept_from(struct listener *listener, enum clock_source source, int *fd)
{
	struct clock clock;
	uint64_t empty_ns = 0;
	int ret = clock_init(&clock, source);

	return ret < 0 ? ret : listener_accept(listener, -1, &clock, fd, &empty_ns);
}

int wake_measure(enum clock_source source, unsigned int round_count, struct wake_latency *latency)
{
	const struct listener_address address = {
		.kind = LISTENER_TCP,
		.tcp = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
	};
	struct listener listener = {.fd = -1};
	int sender_fd = -1;
	int receiver_fd = -1;
	int ret = listener_open(&address, &listener);

	if (ret < 0)
		return ret;
	sender_fd = connect_to(listener.fd);
	ret = sender_fd < 0 ? sender_fd : accept_from(&listener, source, &receiver_fd);
	if (ret == 0)
		ret = measure_connected(receiver_fd, sender_fd, source, round_count, latency);
	if (receiver_fd >= 0)
		close(receiver_fd);
	if (sender_fd >= 0)
		close(sender_fd);
	listener_close(&listener);
	return ret;
}
