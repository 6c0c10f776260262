/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection: bytes from the socket become requests, each with the interval in which it came.
 *
 * `empty_ns` is the last moment at which the request was known not to be here in full: stamped
 * before a read that came back without the rest. `read_ns` is stamped after the read that brought
 * it. The request arrived somewhere between the two, whatever the scheduler did to us meanwhile.
 */
#ifndef EMULATORS_SERPROG_LINK_H
#define EMULATORS_SERPROG_LINK_H

#include "clock.h"
#include "codec.h"

struct link {
	int fd;
	int signal_fd; /* readable: stop */
	struct clock *clock;
	const struct serprog_limits *limits;
	uint8_t *buffer;
	size_t buffer_bytes;
	size_t head; /* of what is not parsed yet */
	size_t tail;
	uint32_t skip_bytes;
	uint64_t empty_ns;
	uint64_t drained_ns; /* the last read left nothing behind, as of then; 0: it may have */
	uint64_t read_ns;
};

enum link_status {
	LINK_REQUEST,
	LINK_CLOSED,  /* by the other side, or by an error of its making */
	LINK_STOPPED, /* by a signal */
};

/* Takes a connected socket that does not block. @buffer holds serprog_request_bytes_max(). */
void link_init(struct link *link, int fd, int signal_fd, struct clock *clock,
	const struct serprog_limits *limits, uint8_t *buffer, uint64_t empty_ns);
void link_deinit(struct link *link);

/* Blocks for the next request; its data lives until the next call. */
enum link_status link_next(struct link *link, struct serprog_request *request);

/* Blocks until it is all sent. @sent_ns is stamped before the first byte leaves. */
enum link_status link_send(struct link *link, const uint8_t *bytes, size_t len, uint64_t *sent_ns);

#endif
