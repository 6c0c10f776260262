/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For clients that send a transfer in two writes, its opcode and the rest: one wake-up for both.
 *
 * Releases of flashrom do so (sp_docommand() in their serprog.c). A server that wakes for the
 * opcode cannot act on it yet. So after a client was seen to send like this, an opcode behind a
 * transfer does not wake the server (SO_RCVLOWAT, socket(7)), for PATIENCE_MS at most: a request of
 * one byte would never be seen otherwise. If a request may have waited like this, @held_up is true:
 * the time of a wake-up does not bound its arrival.
 *
 * The bytes that end such a sleep are read, but stay in the socket (MSG_PEEK, recv(2)) until the
 * reply is sent. If two small segments are taken at once, the kernel acknowledges them with a
 * segment of its own, which costs a client as much as its request. If they stay, the reply
 * acknowledges them.
 *
 * All of this happens only if @wake_suffices. It uses files and bytes, and no clock.
 */
#ifndef EMULATORS_SERPROG_PATIENCE_H
#define EMULATORS_SERPROG_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "codec.h"

/* The rest of a transfer comes sooner than this. */
#define PATIENCE_MS 20

struct patience {
	bool wake_suffices;    /* the time of a wake-up is enough to bound a request's arrival */
	bool held_up;          /* a request was left waiting: that bound does not hold */
	bool piecewise;        /* this client sends an opcode by a write of its own */
	bool follows_transfer; /* the last request was a transfer; nothing behind it is read */
	bool patient;          /* until the next request, an opcode alone wakes nobody */
	int bytes_that_wake;
	size_t left_bytes; /* the bytes that were read and are still in the socket */
};

/* Resets the state for a new client, except wake_suffices, which the caller sets. */
void patience_init(struct patience *patience);

/* Returns true if a read now would find nothing: a client waits for the reply to its transfer. */
bool patience_expects_nothing(const struct patience *patience);

/*
 * Must be called before a sleep until @fd can be read. Returns how long to sleep, as poll() takes
 * it: PATIENCE_MS, or -1 if any byte ends the sleep.
 */
int patience_begin_ms(struct patience *patience, int fd);

/* Must be called when PATIENCE_MS have passed: from now on any byte wakes. */
void patience_end(struct patience *patience, int fd);

/* Reads as read() does, but leaves all bytes in @fd. */
ssize_t patience_read(struct patience *patience, int fd, uint8_t *bytes, size_t size);

/* Takes out of @fd the bytes that were left there. Overwrites as many bytes of @room. */
void patience_take(struct patience *patience, int fd, uint8_t *room);

/* Learns a client's behaviour from the bytes of one read. @len is at least 1. */
void patience_note_bytes(struct patience *patience, const uint8_t *bytes, size_t len);

/* Learns a client's behaviour from a request. @is_last: no bytes came behind it. */
void patience_note_request(
	struct patience *patience, const struct serprog_request *request, bool is_last);

#endif
