/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define OPCODE_BYTES 1

void patience_init(struct patience *patience)
{
	*patience = (struct patience){
		.wake_suffices = patience->wake_suffices,
		.bytes_that_wake = 1,
	};
}

bool patience_expects_nothing(const struct patience *patience)
{
	return patience->wake_suffices && patience->follows_transfer;
}

static bool wake_by(struct patience *patience, int fd, int bytes)
{
	if (bytes != patience->bytes_that_wake &&
		setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes)) == 0)
		patience->bytes_that_wake = bytes;
	return bytes == patience->bytes_that_wake;
}

/* A terminal has no SO_RCVLOWAT: the attempt fails once, and is not repeated. */
int patience_begin_ms(struct patience *patience, int fd)
{
	patience->patient = patience->piecewise && patience->follows_transfer;
	if (patience->patient)
		patience->patient = patience->piecewise = wake_by(patience, fd, OPCODE_BYTES + 1);
	if (!patience->patient)
		wake_by(patience, fd, 1);
	return patience->patient ? PATIENCE_MS : -1;
}

void patience_end(struct patience *patience, int fd)
{
	wake_by(patience, fd, 1);
	patience->follows_transfer = false;
}

ssize_t patience_read(struct patience *patience, int fd, uint8_t *bytes, size_t size)
{
	ssize_t got = recv(fd, bytes, size, MSG_PEEK);

	patience->left_bytes = got > 0 ? (size_t)got : 0;
	return got;
}

void patience_take(struct patience *patience, int fd, uint8_t *room)
{
	while (patience->left_bytes > 0) {
		ssize_t got = read(fd, room, patience->left_bytes);

		if (got > 0)
			patience->left_bytes -= (size_t)got;
		else if (got == 0 || errno != EINTR)
			patience->left_bytes = 0;
	}
}

void patience_note_bytes(struct patience *patience, const uint8_t *bytes, size_t len)
{
	if (patience->wake_suffices && patience->follows_transfer && len == OPCODE_BYTES &&
		bytes[0] == SERPROG_O_SPIOP)
		patience->piecewise = true;
	patience->follows_transfer = false;
}

void patience_note_request(
	struct patience *patience, const struct serprog_request *request, bool is_last)
{
	if (patience->patient && request->size_bytes == OPCODE_BYTES)
		patience->held_up = true;
	patience->patient = false;
	patience->follows_transfer = is_last && request->op == SERPROG_O_SPIOP;
}
