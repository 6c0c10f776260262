/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define ECHO_BYTES 4096
#define NAME_BYTES 128

/* Returns -errno. */
static int close_failed(int fd)
{
	const int error = errno;

	if (fd >= 0)
		close(fd);
	return -error;
}

static void set_no_delay(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int connect_tcp(const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return close_failed(fd);
	set_no_delay(fd);
	return fd;
}

/* Sets the terminal as clients of a serial port do: no echo, no lines, no signals. -1: errno. */
static int set_raw(int fd)
{
	struct termios settings;

	if (tcgetattr(fd, &settings) < 0)
		return -1;
	cfmakeraw(&settings);
	return tcsetattr(fd, TCSANOW, &settings);
}

static int open_terminal(const char *name)
{
	int fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);

	return fd < 0 || set_raw(fd) < 0 ? close_failed(fd) : fd;
}

/* @name is what a server reports: a port, or the path of a terminal. */
static int connect_to(enum peer_line line, const char *name)
{
	return line == PEER_TCP ? connect_tcp(name) : open_terminal(name);
}

static void echo(int fd)
{
	char bytes[ECHO_BYTES];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0) {
		if (write(fd, bytes, (size_t)got) != got)
			return;
	}
}

static int listen_tcp(char name[NAME_BYTES])
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(fd, 1) < 0 || getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return close_failed(fd);
	snprintf(name, NAME_BYTES, "%u", ntohs(address.sin_port));
	return fd;
}

static int open_pty(char name[NAME_BYTES])
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0 || ptsname_r(fd, name, NAME_BYTES) != 0)
		return close_failed(fd);
	return fd;
}

static void serve_echo(enum peer_line line, int fd)
{
	int connection = line == PEER_TCP ? accept(fd, NULL, NULL) : fd;

	if (line == PEER_TCP)
		set_no_delay(connection);
	echo(connection);
	_exit(0);
}

/* Connects before the child starts: a terminal that nobody has opened looks hung up to it. */
int peer_start_echo(struct peer *peer, enum peer_line line)
{
	char name[NAME_BYTES];
	int fd = line == PEER_TCP ? listen_tcp(name) : open_pty(name);

	if (fd < 0)
		return fd;
	peer->fd = connect_to(line, name);
	peer->pid = peer->fd < 0 ? -1 : fork();
	if (peer->pid == 0) {
		close(peer->fd);
		serve_echo(line, fd);
	}
	close(fd);
	if (peer->fd < 0)
		return peer->fd;
	return peer->pid < 0 ? close_failed(peer->fd) : 0;
}

static void run_emulator(enum peer_line line, const char *path, int ready_fd)
{
	char ready[16];

	snprintf(ready, sizeof(ready), "%d", ready_fd);
	execl(path, path, "--chip", "W25Q128JV", "--corner", "zero", "--clients", "1", "--ready-fd",
		ready, "--listen", line == PEER_TCP ? "tcp:127.0.0.1:0" : "pty", (char *)NULL);
	_exit(127);
}

static int read_name(int fd, char name[NAME_BYTES])
{
	FILE *stream = fdopen(fd, "r");
	bool there = stream && fscanf(stream, "%127s", name) == 1;

	if (stream)
		fclose(stream);
	else
		close(fd);
	return there ? 0 : -EPROTO;
}

int peer_start_emulator(struct peer *peer, enum peer_line line, const char *path)
{
	char name[NAME_BYTES];
	int ready[2];
	int ret;

	if (pipe(ready) < 0)
		return -errno;
	peer->pid = fork();
	if (peer->pid == 0) {
		close(ready[0]);
		run_emulator(line, path, ready[1]);
	}
	close(ready[1]);
	ret = read_name(ready[0], name); /* without a child it finds the end of the pipe */
	peer->fd = ret < 0 ? ret : connect_to(line, name);
	if (peer->fd < 0 && peer->pid > 0) {
		kill(peer->pid, SIGTERM);
		waitpid(peer->pid, NULL, 0);
	}
	return peer->fd < 0 ? peer->fd : 0;
}

void peer_stop(struct peer *peer)
{
	close(peer->fd);
	waitpid(peer->pid, NULL, 0);
}
