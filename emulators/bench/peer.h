/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A server in a process of its own, and the connection to it.
 */
#ifndef EMULATORS_BENCH_PEER_H
#define EMULATORS_BENCH_PEER_H

#include <sys/types.h>

enum peer_line {
	PEER_TCP, /* the loopback interface */
	PEER_PTY, /* a pseudo-terminal, raw */
};

struct peer {
	pid_t pid;
	int fd; /* connected, blocking */
};

/* Starts a server that only sends back what it reads. Returns 0, or -errno with nothing to stop. */
int peer_start_echo(struct peer *peer, enum peer_line line);

/* Does the same with the emulator at @path, its W25Q128JV never busy; -EPROTO: it never listens. */
int peer_start_emulator(struct peer *peer, enum peer_line line, const char *path);

/* Hangs up and waits until the server ends. */
void peer_stop(struct peer *peer);

#endif
