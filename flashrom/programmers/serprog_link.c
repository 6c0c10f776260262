/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serprog_link.h"

#define DRAIN_BYTES 4096
#define SEND_MS_MAX 10000

/* A signal does not prolong the wait, since the deadline stays the same. */
static int wait_until(const struct serprog_link *link, short events, uint64_t deadline_ns)
{
	for (;;) {
		struct pollfd fd = {.fd = link->fd, .events = events};
		const uint64_t now_ns = clock_now_ns(link->clock);
		const uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
		const int ready = poll(&fd, 1, (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS));

		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (left_ns == 0)
			return -ETIMEDOUT;
	}
}

static int wait_for(const struct serprog_link *link, short events, uint32_t ms)
{
	return wait_until(link, events, clock_now_ns(link->clock) + ms * NS_PER_MS);
}

/* The kernel has several errors for a peer that is gone; here there is one. */
static int peer_error(int error)
{
	return error == EPIPE || error == EIO ? -ECONNRESET : -error;
}

static bool is_transient(int error)
{
	return error == EINTR || error == EAGAIN;
}

/* A socket needs send(), since write() to a dead peer raises SIGPIPE; a device needs write(). */
static ssize_t send_some(int fd, const uint8_t *data, size_t bytes)
{
	const ssize_t sent = send(fd, data, bytes, MSG_NOSIGNAL);

	return sent < 0 && errno == ENOTSOCK ? write(fd, data, bytes) : sent;
}

int serprog_link_send(const struct serprog_link *link, const uint8_t *data, size_t bytes)
{
	while (bytes > 0) {
		const ssize_t sent = send_some(link->fd, data, bytes);
		int error = 0;

		if (sent < 0 && !is_transient(errno))
			return peer_error(errno);
		if (sent < 0)
			error = wait_for(link, POLLOUT, SEND_MS_MAX);
		if (error != 0)
			return error;
		if (sent > 0) {
			data += sent;
			bytes -= (size_t)sent;
		}
	}
	return 0;
}

/* Removes the first `bytes` of a list of parts, which have been filled. */
static void advance(struct iovec **parts, int *count, size_t bytes)
{
	while (*count > 0 && bytes >= (*parts)->iov_len) {
		bytes -= (*parts)->iov_len;
		(*parts)++;
		(*count)--;
	}
	if (*count > 0) {
		(*parts)->iov_base = (uint8_t *)(*parts)->iov_base + bytes;
		(*parts)->iov_len -= bytes;
	}
}

/* Receives at least one byte into `parts`. Returns the number of bytes, or -errno. */
static ssize_t receive_some(
	const struct serprog_link *link, const struct iovec *parts, int count, uint32_t ms_max)
{
	const uint64_t deadline_ns = clock_now_ns(link->clock) + ms_max * NS_PER_MS;

	for (;;) {
		const int error = wait_until(link, POLLIN, deadline_ns);
		ssize_t got;

		if (error != 0)
			return error;
		got = readv(link->fd, parts, count);
		if (got > 0)
			return got;
		if (got == 0)
			return -ECONNRESET;
		if (!is_transient(errno))
			return peer_error(errno);
	}
}

/* Returns -EBADMSG if the first byte is not `*first`. With NULL it may have any value. */
static int receive(const struct serprog_link *link, const uint8_t *first, struct iovec *parts,
	int count, uint32_t silence_ms_max)
{
	const uint8_t *answer = parts[0].iov_base;

	while (count > 0) {
		const ssize_t got = receive_some(link, parts, count, silence_ms_max);

		if (got < 0)
			return (int)got;
		if (first != NULL && *answer != *first)
			return -EBADMSG;
		advance(&parts, &count, (size_t)got);
	}
	return 0;
}

int serprog_link_receive_after(const struct serprog_link *link, uint8_t first, struct iovec *parts,
	int count, uint32_t silence_ms_max)
{
	return receive(link, &first, parts, count, silence_ms_max);
}

int serprog_link_receive(
	const struct serprog_link *link, uint8_t *data, size_t bytes, uint32_t silence_ms_max)
{
	struct iovec whole = {.iov_base = data, .iov_len = bytes};

	return receive(link, NULL, &whole, 1, silence_ms_max);
}

int serprog_link_drain(const struct serprog_link *link, uint32_t quiet_ms, uint32_t ms_max)
{
	const uint64_t start_ns = clock_now_ns(link->clock);
	uint8_t waste[DRAIN_BYTES];
	const struct iovec part = {.iov_base = waste, .iov_len = sizeof(waste)};

	while (clock_now_ns(link->clock) - start_ns < ms_max * NS_PER_MS) {
		const ssize_t got = receive_some(link, &part, 1, quiet_ms);

		if (got == -ETIMEDOUT)
			return 0;
		if (got < 0)
			return (int)got;
	}
	return -EBUSY;
}
