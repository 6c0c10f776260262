// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes flashrom's arguments, prints flashrom's banner, and floods what the macro FLOOD names: a
 * string of the enum in __init__.py. It ends when a write fails, except with "STUBBORN".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#define TEXT "0123456789012345678901234567890123456789012345678901234567890123456"

/* The rig starts a program only if it contains the part's name. */
static const char *const volatile part = "W25Q128.V";

static bool is(const char *name)
{
	return strcmp(FLOOD, name) == 0;
}

static int fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Connects to the address and port at the start of @at, which is ADDRESS:PORT... */
static int open_socket(const char *at)
{
	struct sockaddr_in there = {.sin_family = AF_INET};
	char address[32] = "";
	unsigned int port;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (sscanf(at, "%31[^:]:%u", address, &port) != 2)
		return fail(at);
	there.sin_port = htons((uint16_t)port);
	inet_pton(AF_INET, address, &there.sin_addr);
	return connect(fd, (struct sockaddr *)&there, sizeof(there)) < 0 ? fail(at) : fd;
}

/* Opens the terminal of @at, which is PATH:BAUD, at 115200 baud. */
static int open_terminal(const char *at)
{
	struct termios raw;
	char path[256] = "";
	int fd;

	sscanf(at, "%255[^:]", path);
	fd = open(path, O_RDWR | O_NOCTTY);
	if (fd < 0 || tcgetattr(fd, &raw) < 0)
		return fail(path);
	cfmakeraw(&raw);
	cfsetspeed(&raw, B115200);
	tcsetattr(fd, TCSANOW, &raw);
	return fd;
}

static int open_programmer(int argc, char *argv[])
{
	for (int i = 1; i < argc; i++) {
		const char *ip = strstr(argv[i], "ip=");
		const char *device = strstr(argv[i], "dev=");

		if (ip)
			return open_socket(ip + 3);
		if (device)
			return open_terminal(device + 4);
	}
	return fail("no programmer");
}

/* Fills the buffer with the flood's bytes. A fixed seed makes garbage the same in each run. */
static void fill(uint8_t *bytes, size_t size)
{
	static const uint8_t status[8] = {0x13, 1, 0, 0, 1, 0, 0, 0x05};
	static const uint8_t read_all[11] = {0x13, 4, 0, 0, 0, 0xF0, 0, 0x03};
	static uint32_t seed = 1;

	for (size_t i = 0; i < size; i++) {
		seed = seed * 1103515245u + 12345u;
		if (is("GARBAGE"))
			bytes[i] = (uint8_t)(seed >> 16);
		else if (is("STATUS"))
			bytes[i] = status[i % sizeof(status)];
		else if (is("DEAF"))
			bytes[i] = read_all[i % sizeof(read_all)];
		else
			bytes[i] = 0; /* a NOP */
	}
}

static void drop_replies(int fd)
{
	static uint8_t reply[1 << 16];
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (read(fd, reply, sizeof(reply)) > 0)
		;
	fcntl(fd, F_SETFL, flags);
}

static void flood_programmer(int fd)
{
	uint8_t bytes[8 * 11 * 40];

	for (;;) {
		fill(bytes, sizeof(bytes));
		if (write(fd, bytes, sizeof(bytes)) < 0 && !is("STUBBORN"))
			fail("write");
		if (!is("DEAF"))
			drop_replies(fd);
	}
}

static void flood_text(FILE *to, const char *end)
{
	while (fprintf(to, "%s%s", TEXT, end) > 0)
		;
	fail("write");
}

int main(int argc, char *argv[])
{
	printf("flashrom v1.3.0, for a %s\n", part);
	fflush(stdout);
	if (is("OUTPUT") || is("LINE"))
		flood_text(stdout, is("LINE") ? "" : "\n");
	if (is("CONSOLE"))
		flood_text(fopen("/dev/console", "w"), "\n");
	if (is("STUBBORN"))
		signal(SIGPIPE, SIG_IGN);
	flood_programmer(open_programmer(argc, argv));
	return 1;
}
