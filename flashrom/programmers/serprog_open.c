/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the stream to a device; nothing here knows the protocol. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "serprog_link.h"
#include "text.h"

#define CONNECT_MS_MAX 10000
#define BAUD_DEFAULT 115200

struct speed {
	uint32_t baud;
	speed_t code;
};

static const struct speed speeds[] = {
	{9600, B9600},
	{19200, B19200},
	{38400, B38400},
	{57600, B57600},
	{115200, B115200},
	{230400, B230400},
	{460800, B460800},
	{500000, B500000},
	{576000, B576000},
	{921600, B921600},
	{1000000, B1000000},
	{1152000, B1152000},
	{1500000, B1500000},
	{2000000, B2000000},
	{2500000, B2500000},
	{3000000, B3000000},
	{3500000, B3500000},
	{4000000, B4000000},
};

static const struct speed *find_speed(uint32_t baud)
{
	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		if (speeds[i].baud == baud)
			return &speeds[i];
	}
	return NULL;
}

static int finish_connect(int fd)
{
	struct pollfd pending = {.fd = fd, .events = POLLOUT};
	socklen_t size = sizeof(int);
	int error = 0;
	int ready;

	do
		ready = poll(&pending, 1, CONNECT_MS_MAX);
	while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return -ETIMEDOUT;
	if (ready < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
		return -errno;
	return -error;
}

/* Nagle is off, because small requests wait for their answers. */
static int connect_address(const struct addrinfo *address)
{
	const int on = 1;
	const int fd = socket(address->ai_family,
		address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, address->ai_addr, address->ai_addrlen) != 0)
		error = errno == EINPROGRESS || errno == EINTR ? finish_connect(fd) : -errno;
	if (error == 0 && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
		error = -errno;
	if (error == 0)
		return fd;
	close(fd);
	return error;
}

static int connect_any(const struct addrinfo *addresses)
{
	int fd = -EHOSTUNREACH;

	for (const struct addrinfo *one = addresses; one != NULL && fd < 0; one = one->ai_next)
		fd = connect_address(one);
	return fd;
}

static int connect_host(
	const char *host, const char *port, const char *host_port, const struct log *log)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *addresses;
	const int status = getaddrinfo(host, port, &hints, &addresses);
	int fd;

	if (status != 0) {
		log_error(log, "serprog: cannot find the host of ip=%s: %s. Write ip=HOST:PORT.\n",
			host_port, gai_strerror(status));
		return -EHOSTUNREACH;
	}
	fd = connect_any(addresses);
	freeaddrinfo(addresses);
	if (fd < 0)
		log_error(log,
			"serprog: cannot connect to ip=%s: %s. Is the programmer on and listening "
			"there?\n",
			host_port, strerror(-fd));
	return fd;
}

/* getaddrinfo() needs "::1" without the brackets of "[::1]". */
static char *strip_brackets(char *host)
{
	const size_t length = strlen(host);

	if (length < 2 || host[0] != '[' || host[length - 1] != ']')
		return host;
	host[length - 1] = '\0';
	return host + 1;
}

int serprog_link_open_tcp(const char *host_port, const struct log *log)
{
	char *host = strdup(host_port);
	char *colon;
	int fd;

	if (host == NULL)
		return -ENOMEM;
	colon = strrchr(host, ':');
	if (colon == NULL || colon == host || colon[1] == '\0') {
		log_error(log, "serprog: ip=%s lacks a host or a port. Write ip=HOST:PORT.\n",
			host_port);
		fd = -EINVAL;
	} else {
		*colon = '\0';
		fd = connect_host(strip_brackets(host), colon + 1, host_port, log);
	}
	free(host);
	return fd;
}

/* A file that is no terminal (a virtio port, say) needs no settings. */
static int set_raw(int fd, speed_t speed)
{
	struct termios settings;

	if (!isatty(fd))
		return 0;
	if (tcgetattr(fd, &settings) != 0)
		return -errno;
	cfmakeraw(&settings);
	settings.c_cflag |= CLOCAL | CREAD;
	settings.c_cflag &= (tcflag_t) ~(CSTOPB | CRTSCTS);
	settings.c_cc[VMIN] = 1;
	settings.c_cc[VTIME] = 0;
	if (cfsetispeed(&settings, speed) != 0 || cfsetospeed(&settings, speed) != 0)
		return -errno;
	if (tcsetattr(fd, TCSANOW, &settings) != 0 || tcflush(fd, TCIOFLUSH) != 0)
		return -errno;
	return 0;
}

static int open_path(const char *path, speed_t speed, const struct log *log)
{
	const int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	const int error = fd < 0 ? -errno : set_raw(fd, speed);

	if (error == 0)
		return fd;
	log_error(log, "serprog: cannot open dev=%s: %s.\n", path, strerror(-error));
	if (fd >= 0)
		close(fd);
	return error;
}

static int report_baud(const struct log *log, const char *baud)
{
	log_error(log,
		"serprog: \"%s\" is no baud rate that this system can set. Write dev=PATH:BAUD "
		"with one like 115200, 921600 or 2000000.\n",
		baud);
	return -EINVAL;
}

int serprog_link_open_tty(const char *device, const struct log *log)
{
	char *path = strdup(device);
	char *colon;
	uint32_t baud = BAUD_DEFAULT;
	const struct speed *speed;
	int fd;

	if (path == NULL)
		return -ENOMEM;
	colon = strrchr(path, ':');
	/* Names below /dev/serial/by-path have colons. */
	if (colon != NULL && access(path, F_OK) != 0) {
		*colon++ = '\0';
		if (!text_to_u32(colon, 10, &baud))
			baud = 0;
	}
	speed = find_speed(baud);
	fd = speed == NULL ? report_baud(log, colon) : open_path(path, speed->code, log);
	free(path);
	return fd;
}
