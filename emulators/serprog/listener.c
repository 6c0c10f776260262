/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PREFIX "tcp:"
#define PORT_MAX 65535

static int parse_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || value > PORT_MAX)
		return -EINVAL;
	*port = (uint16_t)value;
	return 0;
}

int listener_parse(const char *text, struct sockaddr_in *address)
{
	struct sockaddr_in parsed = {.sin_family = AF_INET};
	char host[INET_ADDRSTRLEN] = "";
	const char *colon;
	uint16_t port;

	if (strncmp(text, PREFIX, strlen(PREFIX)) != 0)
		return -EINVAL;
	text += strlen(PREFIX);
	colon = strrchr(text, ':');
	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, (size_t)(colon - text));
	if (inet_pton(AF_INET, host, &parsed.sin_addr) != 1 || parse_port(colon + 1, &port) < 0)
		return -EINVAL;
	parsed.sin_port = htons(port);
	*address = parsed;
	return 0;
}

bool listener_is_loopback(const struct sockaddr_in *address)
{
	return ntohl(address->sin_addr.s_addr) >> 24 == 127;
}

static int bind_and_listen(int fd, const struct sockaddr_in *address, uint16_t *port)
{
	struct sockaddr_in bound = {0};
	socklen_t len = sizeof(bound);
	int on = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
		listen(fd, 1) < 0 || getsockname(fd, (struct sockaddr *)&bound, &len) < 0)
		return -errno;
	*port = ntohs(bound.sin_port);
	return 0;
}

int listener_open(const struct sockaddr_in *address, int *fd, uint16_t *port)
{
	int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret;

	if (opened < 0)
		return -errno;
	ret = bind_and_listen(opened, address, port);
	if (ret < 0) {
		close(opened);
		return ret;
	}
	*fd = opened;
	return 0;
}

static bool is_transient(int error)
{
	return error == EINTR || error == ECONNABORTED;
}

int listener_accept(
	int fd, int signal_fd, struct clock *clock, int *connection_fd, uint64_t *empty_ns)
{
	struct pollfd fds[] = {
		{.fd = fd, .events = POLLIN},
		{.fd = signal_fd, .events = POLLIN},
	};
	int on = 1;
	int accepted;

	for (;;) {
		uint64_t before_ns = clock_now_ns(clock);

		accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (accepted >= 0)
			break;
		if (is_transient(errno))
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return -errno;
		*empty_ns = before_ns;
		if (poll(fds, 2, -1) > 0 && fds[1].revents)
			return -ECANCELED;
	}
	setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	*connection_fd = accepted;
	return 0;
}
