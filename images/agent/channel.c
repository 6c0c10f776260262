// SPDX-License-Identifier: GPL-2.0-or-later
#include "channel.h"
#include "guest.h"
#include "hypercall.h"
#include "process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* QEMU docs/system/devices/net, "Using the user mode network stack". */
#define CARD "eth0"
#define OUR_ADDRESS "10.0.2.15"
#define OUR_NETWORK "255.255.255.0"
#define HOST_ADDRESS "10.0.2.2"
#define LINE_BYTES 64
#define CALLS_MAX 100
#define CALL_PAUSE_MS 50

static int set_address(int control, unsigned long what, const char *address)
{
	struct ifreq request = {.ifr_name = CARD};
	struct sockaddr_in place = {.sin_family = AF_INET};

	inet_pton(AF_INET, address, &place.sin_addr);
	memcpy(&request.ifr_addr, &place, sizeof(place));
	return ioctl(control, what, &request) < 0 ? -errno : 0;
}

/* Sets no route beyond the card's own network: the guest can reach only the host. */
static int bring_up_card(void)
{
	int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error;

	if (control < 0)
		return -errno;
	error = set_address(control, SIOCSIFADDR, OUR_ADDRESS);
	if (!error)
		error = set_address(control, SIOCSIFNETMASK, OUR_NETWORK);
	close(control);
	return error ? error : guest_bring_up(CARD);
}

static int call_host(uint16_t port)
{
	struct sockaddr_in host = {.sin_family = AF_INET, .sin_port = htons(port)};
	const int at_once = 1;
	int channel = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	if (channel < 0)
		return -errno;
	inet_pton(AF_INET, HOST_ADDRESS, &host.sin_addr);
	if (connect(channel, (const struct sockaddr *)&host, sizeof(host)) == 0 &&
		setsockopt(channel, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once)) == 0)
		return channel;
	error = -errno;
	close(channel);
	return error;
}

int channel_open(uint16_t port)
{
	int error = bring_up_card();

	if (error)
		return error;
	/* The link comes up a little later than the card. */
	for (unsigned int calls = 0; calls < CALLS_MAX; calls++) {
		int channel = call_host(port);

		if (channel >= 0)
			return channel;
		error = channel;
		process_sleep_ms(CALL_PAUSE_MS);
	}
	return error;
}

int channel_say(int channel, const char *word)
{
	char line[LINE_BYTES];
	int bytes = snprintf(line, sizeof(line), "%s\n", word);

	return send(channel, line, (size_t)bytes, MSG_NOSIGNAL) == bytes ? 0 : -EPIPE;
}

/* Reads one line, and removes its end. Reads byte by byte, to leave what follows in the socket. */
static int read_line(int channel, char *line)
{
	for (size_t i = 0; i < LINE_BYTES; i++) {
		if (read(channel, &line[i], 1) != 1)
			return -EPIPE;
		if (line[i] == '\n') {
			line[i] = '\0';
			return 0;
		}
	}
	return -EPROTO;
}

static int answer(int channel, const char *word)
{
	char line[LINE_BYTES];

	/* These two can come after the end of the subject; then there is nothing left to do. */
	if (strcmp(word, "accepted") == 0)
		return channel_say(channel, "released");
	if (strcmp(word, "alone") == 0)
		return 0;
	if (strcmp(word, "clock") != 0)
		return -EPROTO;
	snprintf(line, sizeof(line), "%" PRIu64, hypercall_virtual_ns());
	return channel_say(channel, line);
}

int channel_await(int channel, const char *word)
{
	char line[LINE_BYTES];

	for (;;) {
		int error = read_line(channel, line);

		if (error)
			return error;
		if (strcmp(line, word) == 0)
			return 0;
		error = answer(channel, line);
		if (error)
			return error;
	}
}
