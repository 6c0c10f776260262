/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_peer.h"

#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACK 0x06
#define NAK 0x15
#define DATA_BYTES_MAX 2048
#define GARBAGE 0x42 /* neither ACK nor NAK */

static void memory_init(struct fake_peer_memory *memory)
{
	*memory = (struct fake_peer_memory){.opbuf_bytes_max = 1024};
	for (size_t i = 0; i < FAKE_MEMORY_BYTES; i++)
		memory->bytes[i] = (uint8_t)(i ^ i >> 8);
}

static void memory_clear(struct fake_peer_memory *memory)
{
	memory->opbuf_bytes = 0;
	memory->write_count = memory->executed_count;
}

/* A single byte counts as an O_WRITEB: the client has no reason to use O_WRITEN for it. */
static void memory_write(
	struct fake_peer_memory *memory, uint32_t address, const uint8_t *data, size_t bytes)
{
	memory->opbuf_bytes += bytes == 1 ? 5 : 7 + bytes;
	memory->overflows += memory->opbuf_bytes > memory->opbuf_bytes_max;
	memory->too_long += memory->writen_bytes_max != 0 && bytes > memory->writen_bytes_max;
	assert(memory->write_count + bytes <= FAKE_WRITES_MAX);
	for (size_t i = 0; i < bytes; i++)
		memory->writes[memory->write_count++] =
			(struct fake_write){address + (uint32_t)i, data[i], 0};
}

static void memory_execute(struct fake_peer_memory *memory)
{
	memory->execs++;
	while (memory->executed_count < memory->write_count) {
		struct fake_write *write = &memory->writes[memory->executed_count++];

		write->exec = memory->execs;
		memory->bytes[write->address % FAKE_MEMORY_BYTES] = write->value;
	}
	memory->opbuf_bytes = 0;
}

static uint8_t memory_read(struct fake_peer_memory *memory, uint32_t address)
{
	memory->reads_out_of_turn += memory->opbuf_bytes > 0;
	return memory->bytes[address % FAKE_MEMORY_BYTES];
}

bool fake_peer_memory_is_content(const struct fake_peer_memory *memory)
{
	return memory->overflows + memory->too_long + memory->reads_out_of_turn == 0;
}

static bool take(struct fake_peer *peer, void *data, size_t bytes)
{
	return bytes == 0 || recv(peer->own_fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

static bool give(struct fake_peer *peer, const void *data, size_t bytes)
{
	return send(peer->own_fd, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static bool give_byte(struct fake_peer *peer, uint8_t byte)
{
	return give(peer, &byte, 1);
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
	if (peer->fault == PEER_SPIOP_REFUSED)
		return give_byte(peer, NAK);
	if (peer->fault == PEER_SPIOP_GARBAGE)
		return give_byte(peer, GARBAGE);
	if (!give_byte(peer, ACK) || peer->fault == PEER_SPIOP_HANGS_UP)
		return false;
	for (uint32_t i = 0; i < bytes; i++) {
		if (peer->fault == PEER_SPIOP_STOPS && i > bytes / 2)
			return true;
		if (!give_byte(peer, (uint8_t)(first + i)))
			return false;
	}
	return true;
}

/* Takes two numbers of 24 bits, then as many bytes as the first one says. */
static bool take_run(struct fake_peer *peer, uint8_t header[6], uint8_t data[DATA_BYTES_MAX])
{
	if (!take(peer, header, 6))
		return false;
	assert(u24(header) > 0 && u24(header) <= DATA_BYTES_MAX);
	return take(peer, data, u24(header));
}

static bool spiop(struct fake_peer *peer)
{
	uint8_t header[6], data[DATA_BYTES_MAX];

	if (!take_run(peer, header, data))
		return false;
	if (u24(header) > peer->spiop_bytes_seen_max)
		peer->spiop_bytes_seen_max = u24(header);
	return answer_spiop(peer, data[0], u24(header + 3));
}

static bool take_setting(struct fake_peer *peer, uint8_t *setting)
{
	return take(peer, setting, 1) && give_byte(peer, ACK);
}

static bool answer_write(struct fake_peer *peer)
{
	const bool third = peer->counts[0x0c] + peer->counts[0x0d] == 3;

	if (third && peer->fault == PEER_WRITE_REFUSED)
		return give_byte(peer, NAK);
	if (third && peer->fault == PEER_WRITE_GARBAGE)
		return give_byte(peer, GARBAGE);
	if (third && peer->fault == PEER_WRITE_HANGS_UP)
		return false;
	return give_byte(peer, ACK);
}

static bool write_byte(struct fake_peer *peer)
{
	uint8_t request[4];

	if (!take(peer, request, sizeof(request)))
		return false;
	memory_write(&peer->memory, u24(request), request + 3, 1);
	return answer_write(peer);
}

static bool write_run(struct fake_peer *peer)
{
	uint8_t header[6], data[DATA_BYTES_MAX];

	if (!take_run(peer, header, data))
		return false;
	memory_write(&peer->memory, u24(header + 3), data, u24(header));
	return answer_write(peer);
}

static bool init_opbuf(struct fake_peer *peer)
{
	memory_clear(&peer->memory);
	return give_byte(peer, ACK);
}

static bool execute(struct fake_peer *peer)
{
	if (peer->fault == PEER_EXEC_REFUSED)
		return give_byte(peer, NAK);
	memory_execute(&peer->memory);
	return give_byte(peer, ACK);
}

static bool give_memory(struct fake_peer *peer, uint32_t address, uint32_t bytes)
{
	if (peer->fault == PEER_READ_REFUSED)
		return give_byte(peer, NAK);
	if (!give_byte(peer, ACK))
		return false;
	for (uint32_t i = 0; i < bytes; i++) {
		if (!give_byte(peer, memory_read(&peer->memory, address + i)))
			return false;
	}
	return true;
}

static bool read_byte(struct fake_peer *peer)
{
	uint8_t address[3];

	return take(peer, address, sizeof(address)) && give_memory(peer, u24(address), 1);
}

static bool read_run(struct fake_peer *peer)
{
	uint8_t request[6];

	return take(peer, request, sizeof(request)) &&
	       give_memory(peer, u24(request), u24(request + 3));
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
	switch (command) {
	case 0x00:
		return give_byte(peer, ACK);
	case 0x01:
		return give_number(peer, peer->version, 2);
	case 0x02:
		return give_after_ack(peer, peer->map, sizeof(peer->map));
	case 0x03:
		return give_after_ack(peer, "fake peer\0\0\0\0\0\0\0", 16);
	case 0x04:
		return give_number(peer, peer->serbuf_bytes, 2);
	case 0x05:
		return give_number(peer, peer->buses, 1);
	case 0x07:
		return give_number(peer, peer->memory.opbuf_bytes_max, 2);
	case 0x08:
		return give_number(peer, peer->write_bytes_max, 3);
	case 0x09:
		return read_byte(peer);
	case 0x0a:
		return read_run(peer);
	case 0x0b:
		return init_opbuf(peer);
	case 0x0c:
		return write_byte(peer);
	case 0x0d:
		return write_run(peer);
	case 0x0f:
		return execute(peer);
	case 0x10:
		return give_sync(peer);
	case 0x11:
		return give_number(peer, peer->read_bytes_max, 3);
	case 0x12:
		return take_setting(peer, &peer->bus);
	case 0x13:
		return spiop(peer);
	case 0x14:
		return set_frequency(peer);
	case 0x15:
		return take_setting(peer, &peer->pins);
	case 0x16:
		return take_setting(peer, &peer->chip_select);
	default:
		return give_byte(peer, NAK);
	}
}

static void babble(struct fake_peer *peer)
{
	while (give(peer, "babble", 6))
		;
}

/* Waits until all bytes have arrived that the client sends without waiting for an answer. */
static void let_serial_buffer_fill(struct fake_peer *peer)
{
	int unread = 0;
	int before;

	do {
		before = unread;
		poll(NULL, 0, 5);
		ioctl(peer->own_fd, FIONREAD, &unread);
	} while (unread > before);
	/* The command byte has already been taken. */
	if ((size_t)unread + 1 > peer->unread_bytes_max)
		peer->unread_bytes_max = (size_t)unread + 1;
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
		if (peer->slow && ((command >= 0x09 && command <= 0x0f) || command == 0x13))
			let_serial_buffer_fill(peer);
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
	static const uint8_t offered[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
		0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16};

	*peer = (struct fake_peer){.version = 1, .buses = 0x08, .serbuf_bytes = UINT16_MAX};
	memory_init(&peer->memory);
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
