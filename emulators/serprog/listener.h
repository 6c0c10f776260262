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
	/* The path of the socket, or of the link to the terminal; may be "" */
	char path[LISTENER_PATH_BYTES];
};

struct listener {
	enum listener_kind kind;
	int fd;                         /* readable: a client is there; -1: not open */
	char path[LISTENER_PATH_BYTES]; /* the path to remove at the end; "": none */
	char name[LISTENER_PATH_BYTES]; /* where clients connect: port, path or terminal */
};

/*
 * Reads `tcp:ADDR:PORT` with an IPv4 address, `unix:PATH` or `pty[:LINK]`. Returns -EINVAL or
 * -ENAMETOOLONG on failure.
 */
int listener_parse(const char *text, struct listener_address *address);

/* Reads `ADDR:PORT` with an IPv4 address. Returns -EINVAL on failure. */
int listener_parse_tcp(const char *text, struct sockaddr_in *address);

/* Returns true if only clients on this machine can connect. */
bool listener_is_local(const struct listener_address *address);

/*
 * Listens at @address without blocking; port 0 takes a free one. Replaces a socket on which nobody
 * listens any more, and a symbolic link. On failure returns a negative errno and opens nothing.
 */
int listener_open(const struct listener_address *address, struct listener *listener);

/* Closes the listener and removes its socket or link. Does nothing if it is not open. */
void listener_close(struct listener *listener);

/*
 * Blocks until a client connects. The connection does not block, and sends small writes at once.
 * Sets @empty_ns to the last time at which no client was there, if it had to wait for one. Returns
 * -ECANCELED after a signal, or another negative errno.
 *
 * A server cannot see that a client opens the terminal, so there a connection begins with its first
 * byte.
 */
int listener_accept(struct listener *listener, int signal_fd, struct clock *clock,
	int *connection_fd, uint64_t *empty_ns);

/*
 * Accepts a further client, closes its connection and reports that. Returns -EAGAIN if no client is
 * there, or another negative errno if it stays there, such as -EMFILE.
 */
int listener_turn_away(struct listener *listener);

#endif
