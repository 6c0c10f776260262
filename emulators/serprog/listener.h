/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A TCP port that one host at a time connects to.
 */
#ifndef EMULATORS_SERPROG_LISTENER_H
#define EMULATORS_SERPROG_LISTENER_H

#include <netinet/in.h>
#include <stdbool.h>

#include "clock.h"

/* Reads `tcp:ADDR:PORT`, ADDR an IPv4 address. -EINVAL. */
int listener_parse(const char *text, struct sockaddr_in *address);

bool listener_is_loopback(const struct sockaddr_in *address);

/* A socket that does not block, listening there; port 0 takes a free one. Negative errno. */
int listener_open(const struct sockaddr_in *address, int *fd, uint16_t *port);

/*
 * Blocks for a connection and makes it ready for use: small writes leave at once, nothing blocks.
 * @empty_ns, the last moment at which it was known not to be there, only moves if a later one
 * than the caller's is found. -ECANCELED: a signal came.
 */
int listener_accept(
	int fd, int signal_fd, struct clock *clock, int *connection_fd, uint64_t *empty_ns);

#endif
