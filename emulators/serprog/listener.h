/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where one client at a time connects: a TCP port, a unix socket or a terminal. */
#ifndef EMULATORS_SERPROG_LISTENER_H
#define EMULATORS_SERPROG_LISTENER_H

#include <netinet/in.h>
#include <stdbool.h>

#include "clock.h"

#define LISTENER_PATH_BYTES 108 /* the size of a unix socket's address */

enum listener_kind {
	LISTENER_TCP,
	LISTENER_UNIX,
	LISTENER_PTY,
};

struct listener_address {
	enum listener_kind kind;
	struct sockaddr_in tcp;
	/* The path of the socket, or of a link to the terminal; may be "" */
	char path[LISTENER_PATH_BYTES];
};

struct listener {
	enum listener_kind kind;
	int fd;                         /* readable: a client is there. -1: not open */
	char path[LISTENER_PATH_BYTES]; /* to be removed at the end, "" for nothing */
	char name[LISTENER_PATH_BYTES]; /* where clients connect: port, path or terminal */
};

/*
 * Reads `tcp:ADDR:PORT` with an IPv4 address, `unix:PATH` or `pty[:LINK]`. -EINVAL, or
 * -ENAMETOOLONG.
 */
int listener_parse(const char *text, struct listener_address *address);

/* `ADDR:PORT` alone, with an IPv4 address. -EINVAL. */
int listener_parse_tcp(const char *text, struct sockaddr_in *address);

/* Returns true if clients can only be on this machine. */
bool listener_is_local(const struct listener_address *address);

/*
 * Listens there without blocking; port 0 takes a free one. A socket that nobody listens on any
 * more, and a link that is one already, are replaced. Negative errno, and nothing is left.
 */
int listener_open(const struct listener_address *address, struct listener *listener);

/* Removes what it made in the file system. May be called where nothing is open. */
void listener_close(struct listener *listener);

/*
 * Blocks for a connection and makes it ready for use: small writes leave at once, nothing blocks.
 * @empty_ns, the last moment at which it was known not to be there, only moves if a later one
 * than the caller's is found. -ECANCELED: a signal came.
 *
 * Who opens a terminal is not seen before the first byte comes: that is the connection.
 */
int listener_accept(struct listener *listener, int signal_fd, struct clock *clock,
	int *connection_fd, uint64_t *empty_ns);

/* Accepts a further client and hangs up at once, saying why on stderr. Whether there was one. */
bool listener_turn_away(struct listener *listener);

#endif
