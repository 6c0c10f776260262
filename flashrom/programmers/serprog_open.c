/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parameters after -p serprog:, and the stream to the device. The protocol is in serprog.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "programmers.h"
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

/* Connects, with Nagle's algorithm off, because it would delay small requests. */
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

/*
 * Connects to "HOST:PORT" or "[::1]:PORT". Returns a descriptor, or -errno (logged, except
 * -ENOMEM).
 */
static int open_tcp(const char *host_port, const struct log *log)
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

/* Opens "/dev/ttyX" or "/dev/ttyX:BAUD" in raw mode. Returns as open_tcp() does. */
static int open_tty(const char *device, const struct log *log)
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

struct values {
	const char *ip;
	const char *dev;
	const char *spispeed;
	const char *cs;
};

static int check_link(const struct values *values, const struct log *log)
{
	if ((values->ip == NULL) != (values->dev == NULL))
		return 0;
	log_error(log, "serprog: give one of ip=HOST:PORT and dev=PATH[:BAUD].\n");
	return -EINVAL;
}

static int take_speed(const char *spispeed, struct serprog_options *options, const struct log *log)
{
	if (spispeed == NULL || text_to_hz(spispeed, &options->spi_hz))
		return 0;
	log_error(log,
		"serprog: spispeed=%s is no frequency. Write it in Hz, like 2000000 or 2M.\n",
		spispeed);
	return -EINVAL;
}

static int take_chip_select(const char *cs, struct serprog_options *options, const struct log *log)
{
	uint32_t number;

	if (cs == NULL)
		return 0;
	if (!text_to_u32(cs, 10, &number) || number > UINT8_MAX) {
		log_error(log, "serprog: cs=%s is no chip select. Write a number up to 255.\n", cs);
		return -EINVAL;
	}
	options->has_chip_select = true;
	options->chip_select = (uint8_t)number;
	return 0;
}

/* Devices on a serial line get more time, since a board may restart when the line is opened. */
static int take_values(
	const struct values *values, struct serprog_options *options, const struct log *log)
{
	int error = check_link(values, log);

	*options = (struct serprog_options){
		.quiet_ms = values->ip != NULL ? 50 : 200,
		.sync_ms_max = values->ip != NULL ? 5000 : 10000,
		.silence_ms_max = 5000,
	};
	if (error == 0)
		error = take_speed(values->spispeed, options, log);
	if (error == 0)
		error = take_chip_select(values->cs, options, log);
	return error;
}

static int open_values(const struct values *values, const struct clock *clock,
	const struct log *log, struct programmer **out)
{
	struct serprog_options options;
	const int error = take_values(values, &options, log);
	int fd;

	if (error != 0)
		return error;
	fd = values->ip != NULL ? open_tcp(values->ip, log) : open_tty(values->dev, log);
	if (fd < 0)
		return fd;
	return serprog_attach(
		fd, values->ip != NULL ? values->ip : values->dev, &options, clock, log, out);
}

static int serprog_open(
	char *text, const struct clock *clock, const struct log *log, struct programmer **out)
{
	struct values values = {0};
	const struct param params[] = {
		{"ip", &values.ip},
		{"dev", &values.dev},
		{"spispeed", &values.spispeed},
		{"cs", &values.cs},
		{NULL, NULL},
	};
	const int error = params_parse(text, "serprog", params, log);

	return error == 0 ? open_values(&values, clock, log, out) : error;
}

const struct programmer_driver serprog_driver = {
	.name = "serprog",
	.usage = "serprog:ip=HOST:PORT | serprog:dev=PATH[:BAUD]   (add ,spispeed=HZ,cs=NUMBER)",
	.open = serprog_open,
};
