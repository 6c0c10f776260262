/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serprog-bench: how many requests a second serprog-emu answers, next to a bare echo server.
 *
 * Both are asked in turns, a short round each, and the median of the ratios is what counts: what
 * else the machine does meets both alike. Quartiles far apart say that it did too much.
 */
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
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE 2
#define ROUNDS 1001
#define REQUESTS_IN_ROUND 100
#define REQUEST_BYTES_MAX 8
#define NS_PER_S 1e9
#define ECHO_BYTES 4096
#define NAME_BYTES 128

enum peer_line {
	PEER_TCP, /* the loopback interface */
	PEER_PTY, /* a pseudo-terminal, raw */
};

/* A server in a process of its own, and the connection to it. */
struct peer {
	pid_t pid;
	int fd; /* connected, blocking */
};

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

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -errno;
	}
	set_no_delay(fd);
	return fd;
}

/* As clients of a serial port do: no echo, no lines, no signals. */
static int set_raw(int fd)
{
	struct termios settings;

	if (tcgetattr(fd, &settings) < 0)
		return -errno;
	cfmakeraw(&settings);
	return tcsetattr(fd, TCSANOW, &settings) < 0 ? -errno : 0;
}

static int open_terminal(const char *name)
{
	int fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = set_raw(fd);
	if (ret < 0) {
		close(fd);
		return ret;
	}
	return fd;
}

/* @name is what a server says of itself: a port, or a terminal's path. */
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
		return -errno;
	snprintf(name, NAME_BYTES, "%u", ntohs(address.sin_port));
	return fd;
}

static int open_pty(char name[NAME_BYTES])
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || grantpt(fd) < 0 || unlockpt(fd) < 0 || ptsname_r(fd, name, NAME_BYTES) != 0)
		return -errno;
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

/* Connects to the child, which ends if that fails. */
static int take_child(struct peer *peer, enum peer_line line, const char *name)
{
	peer->fd = connect_to(line, name);
	if (peer->fd >= 0)
		return 0;
	kill(peer->pid, SIGTERM);
	waitpid(peer->pid, NULL, 0);
	return peer->fd;
}

/*
 * Starts one that sends back what it reads. Negative errno. The terminal is opened here before its
 * other end is read there: a read would find it hung up.
 */
static int peer_start_echo(struct peer *peer, enum peer_line line)
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
	return peer->pid < 0 ? -EAGAIN : 0;
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
	return there ? 0 : -EPROTO;
}

/* The emulator at @path, with W25Q128JV that is never busy. -EPROTO: it would not listen so. */
static int peer_start_emulator(struct peer *peer, enum peer_line line, const char *path)
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
	ret = read_name(ready[0], name);
	if (ret < 0) {
		waitpid(peer->pid, NULL, 0);
		return ret;
	}
	return take_child(peer, line, name);
}

/* Hangs up and waits for its end. */
static void peer_stop(struct peer *peer)
{
	close(peer->fd);
	waitpid(peer->pid, NULL, 0);
}

/*
 * A request, and the number of bytes in serprog-emu's answer; the echo server answers with as many
 * as it gets.
 */
struct question {
	const char *name;
	uint8_t request[REQUEST_BYTES_MAX];
	size_t request_bytes;
	size_t reply_bytes;
};

static const struct question questions[] = {
	{"nop", {0x00}, 1, 1},
	{"status read", {0x13, 1, 0, 0, 1, 0, 0, 0x05}, 8, 2},
};

#define QUESTION_COUNT (sizeof(questions) / sizeof(questions[0]))

static const char *const line_names[] = {[PEER_TCP] = "tcp", [PEER_PTY] = "pty"};

#define LINE_COUNT (sizeof(line_names) / sizeof(line_names[0]))

struct rates {
	double echo_hz[ROUNDS];
	double emulator_hz[ROUNDS];
	double ratio[ROUNDS];
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

static int ask(int fd, const struct question *question, size_t reply_bytes)
{
	uint8_t reply[REQUEST_BYTES_MAX];
	size_t have = 0;

	if (write(fd, question->request, question->request_bytes) !=
		(ssize_t)question->request_bytes)
		return -EIO;
	while (have < reply_bytes) {
		ssize_t got = read(fd, reply, reply_bytes - have);

		if (got <= 0)
			return -EIO;
		have += (size_t)got;
	}
	return 0;
}

static int measure_hz(int fd, const struct question *question, size_t reply_bytes, double *hz)
{
	double start_s = now_s();

	for (int i = 0; i < REQUESTS_IN_ROUND; i++) {
		int ret = ask(fd, question, reply_bytes);

		if (ret < 0)
			return ret;
	}
	*hz = REQUESTS_IN_ROUND / (now_s() - start_s);
	return 0;
}

static int by_size(const void *a, const void *b)
{
	double first = *(const double *)a;
	double second = *(const double *)b;

	return (first > second) - (first < second);
}

static void report(enum peer_line line, const struct question *question, struct rates *rates)
{
	qsort(rates->echo_hz, ROUNDS, sizeof(double), by_size);
	qsort(rates->emulator_hz, ROUNDS, sizeof(double), by_size);
	qsort(rates->ratio, ROUNDS, sizeof(double), by_size);
	printf("%s, %s: echo %.0f/s, serprog-emu %.0f/s, ratio %.2f (%.2f to %.2f)\n",
		line_names[line], question->name, rates->echo_hz[ROUNDS / 2],
		rates->emulator_hz[ROUNDS / 2], rates->ratio[ROUNDS / 2], rates->ratio[ROUNDS / 4],
		rates->ratio[ROUNDS - 1 - ROUNDS / 4]);
	fflush(stdout);
}

static int measure_question(enum peer_line line, const struct peer *echo,
	const struct peer *emulator, const struct question *question)
{
	struct rates rates;

	for (size_t i = 0; i < ROUNDS; i++) {
		int ret =
			measure_hz(echo->fd, question, question->request_bytes, &rates.echo_hz[i]);

		if (ret == 0)
			ret = measure_hz(emulator->fd, question, question->reply_bytes,
				&rates.emulator_hz[i]);
		if (ret < 0)
			return ret;
		rates.ratio[i] = rates.emulator_hz[i] / rates.echo_hz[i];
	}
	report(line, question, &rates);
	return 0;
}

static int measure_with(enum peer_line line, const struct peer *echo, const char *path)
{
	struct peer emulator;
	int ret = peer_start_emulator(&emulator, line, path);

	for (size_t i = 0; ret == 0 && i < QUESTION_COUNT; i++)
		ret = measure_question(line, echo, &emulator, &questions[i]);
	if (ret != -EPROTO)
		peer_stop(&emulator);
	return ret;
}

static int measure_line(enum peer_line line, const char *path)
{
	struct peer echo;
	int ret = peer_start_echo(&echo, line);

	if (ret == 0) {
		ret = measure_with(line, &echo, path);
		peer_stop(&echo);
	}
	if (ret < 0)
		fprintf(stderr, "serprog-bench: %s: %s\n", line_names[line], strerror(-ret));
	return ret;
}

int main(int argc, char *argv[])
{
	int status = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: serprog-bench SERPROG-EMU\n");
		return EXIT_USAGE;
	}
	for (size_t line = 0; line < LINE_COUNT; line++) {
		if (measure_line((enum peer_line)line, argv[1]) < 0)
			status = 1;
	}
	return status;
}
