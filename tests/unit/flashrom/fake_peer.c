/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_peer.h"

#define ACK 0x06
#define NAK 0x15

static bool take(struct fake_peer *peer, void *data, size_t bytes)
{
	return bytes == 0 || recv(peer->own_fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

static bool give(struct fake_peer *peer, const void *data, size_t bytes)
{
	return send(peer->own_fd, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static bool give_after_ack(struct fake_peer *peer, const void *data, size_t bytes)
{
	uint8_t answer[1 + 64] = {ACK};

	memcpy(answer + 1, data, bytes);
	return give(peer, answer, 1 + bytes);
}

static bool give_number(struct fake_peer *peer, uint32_t value, size_t bytes)
{
	const uint8_t le[] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
		(uint8_t)(value >> 24)};

	return give_after_ack(peer, le, bytes);
}

static uint32_t u24(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16;
}

static bool answer_spiop(struct fake_peer *peer, uint8_t first, uint32_t bytes)
{
	static const uint8_t other[] = {NAK, 0x42};
	const uint8_t ack = ACK;

	if (peer->fault == PEER_SPIOP_REFUSED)
		return give(peer, &other[0], 1);
	if (peer->fault == PEER_SPIOP_GARBAGE)
		return give(peer, &other[1], 1);
	if (!give(peer, &ack, 1))
		return false;
	if (peer->fault == PEER_SPIOP_HANGS_UP)
		return false;
	for (uint32_t i = 0; i < bytes; i++) {
		const uint8_t byte = (uint8_t)(first + i);

		if (peer->fault == PEER_SPIOP_STOPS && i > bytes / 2)
			return true;
		if (!give(peer, &byte, 1))
			return false;
	}
	return true;
}

static bool spiop(struct fake_peer *peer)
{
	uint8_t header[6];
	uint8_t data[2048];

	if (!take(peer, header, sizeof(header)))
		return false;
	assert(u24(header) <= sizeof(data));
	if (!take(peer, data, u24(header)))
		return false;
	if (u24(header) > peer->spiop_bytes_seen_max)
		peer->spiop_bytes_seen_max = u24(header);
	return answer_spiop(peer, data[0], u24(header + 3));
}

static bool set_pins(struct fake_peer *peer)
{
	return take(peer, &peer->pins, 1) && give_after_ack(peer, "", 0);
}

static bool set_bus(struct fake_peer *peer)
{
	uint8_t bus;

	return take(peer, &bus, 1) && give_after_ack(peer, "", 0);
}

static bool set_frequency(struct fake_peer *peer)
{
	uint8_t hz[4];

	return take(peer, hz, sizeof(hz)) && give_after_ack(peer, hz, sizeof(hz));
}

static bool give_sync(struct fake_peer *peer)
{
	static const uint8_t synced[] = {NAK, ACK};
	const char *late = peer->late == NULL ? "" : peer->late;

	peer->late = NULL;
	return give(peer, late, strlen(late)) && give(peer, synced, sizeof(synced));
}

static bool serve_command(struct fake_peer *peer, uint8_t command)
{
	static const uint8_t refusal = NAK;

	switch (command) {
	case 0x00:
		return give_after_ack(peer, "", 0);
	case 0x01:
		return give_number(peer, peer->version, 2);
	case 0x02:
		return give_after_ack(peer, peer->map, sizeof(peer->map));
	case 0x03:
		return give_after_ack(peer, "fake peer\0\0\0\0\0\0\0", 16);
	case 0x05:
		return give_number(peer, peer->buses, 1);
	case 0x08:
		return give_number(peer, peer->write_bytes_max, 3);
	case 0x10:
		return give_sync(peer);
	case 0x11:
		return give_number(peer, peer->read_bytes_max, 3);
	case 0x12:
		return set_bus(peer);
	case 0x13:
		return spiop(peer);
	case 0x14:
		return set_frequency(peer);
	case 0x15:
		return set_pins(peer);
	default:
		return give(peer, &refusal, 1);
	}
}

static void babble(struct fake_peer *peer)
{
	while (give(peer, "babble", 6))
		;
}

static void serve(struct fake_peer *peer)
{
	uint8_t command;

	if (peer->leftover != NULL)
		give(peer, peer->leftover, strlen(peer->leftover));
	while (take(peer, &command, 1)) {
		if (peer->swallow > 0) {
			peer->swallow--;
			continue;
		}
		peer->counts[command]++;
		if (peer->fault != PEER_SILENT && !serve_command(peer, command))
			return;
	}
}

static void *peer_main(void *context)
{
	struct fake_peer *peer = context;

	if (peer->fault == PEER_BABBLES)
		babble(peer);
	else
		serve(peer);
	shutdown(peer->own_fd, SHUT_RDWR);
	return NULL;
}

void fake_peer_init(struct fake_peer *peer)
{
	static const uint8_t offered[] = {
		0, 1, 2, 3, 4, 5, 8, 0x0e, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15};

	*peer = (struct fake_peer){.version = 1, .buses = 0x08};
	for (size_t i = 0; i < sizeof(offered); i++)
		peer->map[offered[i] / 8] |= (uint8_t)(1 << offered[i] % 8);
}

void fake_peer_withhold(struct fake_peer *peer, uint8_t command)
{
	peer->map[command / 8] &= (uint8_t)~(1 << command % 8);
}

void fake_peer_start(struct fake_peer *peer)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
		assert(!"socketpair");
	peer->fd = fds[0];
	peer->own_fd = fds[1];
	fcntl(peer->fd, F_SETFL, O_NONBLOCK);
	if (pthread_create(&peer->thread, NULL, peer_main, peer) != 0)
		assert(!"pthread_create");
}

void fake_peer_stop(struct fake_peer *peer)
{
	pthread_join(peer->thread, NULL);
	close(peer->own_fd);
}
