/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "shared/number.h"

#define TCP "tcp:"
#define UNIX "unix:"
#define PTY "pty"

/* poll() returns at once for a terminal whose client has left, so there it is called this often. */
#define HUNG_UP_MS 10

_Static_assert(LISTENER_PATH_BYTES == sizeof(((struct sockaddr_un *)0)->sun_path),
	"a path of a unix socket has another length here");

int listener_parse_tcp(const char *text, struct sockaddr_in *address)
{
	char host[INET_ADDRSTRLEN] = "";
	const char *colon = strrchr(text, ':');
	uint64_t port;

	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, (size_t)(colon - text));
	if (!number_parse(colon + 1, 10, 0, UINT16_MAX, &port))
		return -EINVAL;
	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	return inet_pton(AF_INET, host, &address->sin_addr) == 1 ? 0 : -EINVAL;
}

static int parse_path(const char *text, char *path)
{
	if (*text == '\0')
		return -EINVAL;
	if (strlen(text) >= LISTENER_PATH_BYTES)
		return -ENAMETOOLONG;
	strcpy(path, text);
	return 0;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

int listener_parse(const char *text, struct listener_address *address)
{
	struct listener_address parsed = {.kind = LISTENER_PTY};
	int ret = -EINVAL;

	if (begins_with(text, TCP)) {
		parsed.kind = LISTENER_TCP;
		ret = listener_parse_tcp(text + strlen(TCP), &parsed.tcp);
	} else if (begins_with(text, UNIX)) {
		parsed.kind = LISTENER_UNIX;
		ret = parse_path(text + strlen(UNIX), parsed.path);
	} else if (strcmp(text, PTY) == 0) {
		ret = 0;
	} else if (begins_with(text, PTY ":")) {
		ret = parse_path(text + strlen(PTY ":"), parsed.path);
	}
	if (ret == 0)
		*address = parsed;
	return ret;
}

bool listener_is_local(const struct listener_address *address)
{
	return address->kind != LISTENER_TCP || ntohl(address->tcp.sin_addr.s_addr) >> 24 == 127;
}

static int open_socket(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int listen_tcp(const struct sockaddr_in *address, struct listener *listener)
{
	struct sockaddr_in bound = {0};
	socklen_t len = sizeof(bound);
	int on = 1;
	int fd = open_socket(AF_INET);

	if (fd < 0)
		return -errno;
	listener->fd = fd;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
		listen(fd, 1) < 0 || getsockname(fd, (struct sockaddr *)&bound, &len) < 0)
		return -errno;
	snprintf(listener->name, sizeof(listener->name), "%u", ntohs(bound.sin_port));
	return 0;
}

/* Returns true for a socket on which nobody listens: a killed server left it. */
static bool is_stale(const struct sockaddr_un *address)
{
	struct stat st;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool refused = fd >= 0 && lstat(address->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
		       connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
		       errno == ECONNREFUSED;

	if (fd >= 0)
		close(fd);
	return refused;
}

static int bind_unix(int fd, const struct sockaddr_un *address)
{
	const struct sockaddr *any = (const struct sockaddr *)address;
	int ret = bind(fd, any, sizeof(*address)) < 0 ? -errno : 0;

	if (ret != -EADDRINUSE || !is_stale(address) || unlink(address->sun_path) < 0)
		return ret;
	return bind(fd, any, sizeof(*address)) < 0 ? -errno : 0;
}

static int listen_unix(const char *path, struct listener *listener)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = open_socket(AF_UNIX);
	int ret;

	if (fd < 0)
		return -errno;
	listener->fd = fd;
	strcpy(address.sun_path, path);
	ret = bind_unix(fd, &address);
	if (ret < 0)
		return ret;
	strcpy(listener->path, path);
	strcpy(listener->name, path);
	return listen(fd, 1) < 0 ? -errno : 0;
}

/* The terminal must pass bytes on unchanged, even if its client does not set it raw. */
static int make_raw(int fd)
{
	struct termios termios;

	if (tcgetattr(fd, &termios) < 0)
		return -errno;
	cfmakeraw(&termios);
	return tcsetattr(fd, TCSANOW, &termios) < 0 ? -errno : 0;
}

static int link_to(const char *target, const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && unlink(path) < 0)
		return -errno;
	return symlink(target, path) < 0 ? -errno : 0;
}

static int open_terminal(const char *link, struct listener *listener)
{
	int ret;

	listener->fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (listener->fd < 0 || grantpt(listener->fd) < 0 || unlockpt(listener->fd) < 0 ||
		ptsname_r(listener->fd, listener->name, sizeof(listener->name)) != 0)
		return -errno;
	ret = make_raw(listener->fd);
	if (ret < 0 || link[0] == '\0')
		return ret;
	ret = link_to(listener->name, link);
	if (ret == 0)
		strcpy(listener->path, link);
	return ret;
}

static int open_any(const struct listener_address *address, struct listener *listener)
{
	switch (address->kind) {
	case LISTENER_TCP:
		return listen_tcp(&address->tcp, listener);
	case LISTENER_UNIX:
		return listen_unix(address->path, listener);
	case LISTENER_PTY:
		return open_terminal(address->path, listener);
	}
	return -EINVAL;
}

int listener_open(const struct listener_address *address, struct listener *listener)
{
	struct listener opened = {.kind = address->kind, .fd = -1};
	int ret = open_any(address, &opened);

	if (ret < 0)
		listener_close(&opened);
	else
		*listener = opened;
	return ret;
}

void listener_close(struct listener *listener)
{
	if (listener->fd >= 0)
		close(listener->fd);
	if (listener->path[0])
		unlink(listener->path);
	listener->fd = -1;
	listener->path[0] = '\0';
}

/* Returns -EAGAIN if no client is there yet. */
static int accept_socket(const struct listener *listener, int *connection_fd)
{
	int on = 1;
	int accepted;

	do
		accepted = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	while (accepted < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (accepted < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	if (listener->kind == LISTENER_TCP)
		setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	*connection_fd = accepted;
	return 0;
}

static int accept_terminal(const struct listener *listener, int *connection_fd)
{
	struct pollfd fds = {.fd = listener->fd, .events = POLLIN};
	int duplicate;

	if (poll(&fds, 1, 0) <= 0 || !(fds.revents & POLLIN))
		return -EAGAIN;
	duplicate = fcntl(listener->fd, F_DUPFD_CLOEXEC, 0);
	if (duplicate < 0)
		return -errno;
	*connection_fd = duplicate;
	return 0;
}

static int try_accept(const struct listener *listener, int *connection_fd)
{
	return listener->kind == LISTENER_PTY ? accept_terminal(listener, connection_fd)
					      : accept_socket(listener, connection_fd);
}

/* Returns -ECANCELED after a signal. */
static int wait_for_client(const struct listener *listener, int signal_fd)
{
	struct pollfd fds[] = {
		{.fd = listener->fd, .events = POLLIN},
		{.fd = signal_fd, .events = POLLIN},
	};

	if (poll(fds, 2, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[1].revents)
		return -ECANCELED;
	if (fds[0].revents & POLLIN || listener->kind != LISTENER_PTY)
		return 0;
	return poll(&fds[1], 1, HUNG_UP_MS) > 0 ? -ECANCELED : 0;
}

int listener_accept(struct listener *listener, int signal_fd, struct clock *clock,
	int *connection_fd, uint64_t *empty_ns)
{
	for (;;) {
		uint64_t before_ns = clock_now_ns(clock);
		int ret = try_accept(listener, connection_fd);

		if (ret != -EAGAIN)
			return ret;
		*empty_ns = before_ns;
		ret = wait_for_client(listener, signal_fd);
		if (ret < 0)
			return ret;
	}
}

int listener_turn_away(struct listener *listener)
{
	int fd = -1;
	int ret = listener->kind == LISTENER_PTY ? -ENOTSUP : accept_socket(listener, &fd);

	if (ret < 0)
		return ret;
	close(fd);
	fprintf(stderr, "serprog-emu: a second client was turned away: one is connected; "
			"--second-client wait lets it wait\n");
	return 0;
}
