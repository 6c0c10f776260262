/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clients that send a transfer in two writes, its opcode and the rest, are waited for once.
 *
 * Releases of flashrom do (sp_docommand() in their serprog.c). Whoever wakes for the opcode finds
 * nothing to act on. So once a client was seen to send so, an opcode behind a transfer wakes nobody
 * (SO_RCVLOWAT, socket(7)), for PATIENCE_MS at most: else a request of no more than a byte would
 * never be seen. One that may have waited so makes @held_up true: how long a wake-up takes no
 * longer tells its moment.
 *
 * What ends such a sleep is read, and left in the socket (MSG_PEEK, recv(2)) until the reply was
 * sent. Two small segments that are taken at once are acknowledged by a segment of its own, which
 * costs a client as much as its request; those that are left where they are, by the reply.
 *
 * All of this only where @wake_suffices. It knows of files and bytes, and of no clock.
 */
#ifndef EMULATORS_SERPROG_PATIENCE_H
#define EMULATORS_SERPROG_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "codec.h"

/* The rest of a transfer comes sooner. */
#define PATIENCE_MS 20

struct patience {
	bool wake_suffices;    /* readers know a request's moment by how long a wake-up takes */
	bool held_up;          /* a request was left waiting: that bound does not hold */
	bool piecewise;        /* this client sends an opcode by a write of its own */
	bool follows_transfer; /* the last request was one, and nothing of the next is read */
	bool patient;          /* since the last request an opcode alone woke nobody */
	int bytes_that_wake;
	size_t left_bytes; /* that were read, and are still in the socket */
};

/* The state for a new client. The caller sets wake_suffices. */
void patience_init(struct patience *patience);

/* A client has its reply to a transfer before it sends more: a read now would find nothing. */
bool patience_expects_nothing(const struct patience *patience);

/*
 * Before a sleep until @fd can be read. How long that may last, as poll() takes it: PATIENCE_MS, or
 * -1 where whatever comes ends it.
 */
int patience_begin_ms(struct patience *patience, int fd);

/* That time was over before the sleep: from here on any byte wakes. */
void patience_end(struct patience *patience, int fd);

/* As read(), but all that is read is left in @fd. */
ssize_t patience_read(struct patience *patience, int fd, uint8_t *bytes, size_t size);

/* Takes what was left out of @fd; @room for as many bytes is written to, with no meaning. */
void patience_take(struct patience *patience, int fd, uint8_t *room);

/* Learns a client's behaviour from the @len bytes of one read, 1 or more, ... */
void patience_note_bytes(struct patience *patience, const uint8_t *bytes, size_t len);

/* ... and from each request. @is_last: nothing came behind it. */
void patience_note_request(
	struct patience *patience, const struct serprog_request *request, bool is_last);

#endif
