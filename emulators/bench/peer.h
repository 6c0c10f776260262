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

/* One that sends back what it reads, and does nothing else. Negative errno. */
int peer_start_echo(struct peer *peer, enum peer_line line);

/* The emulator at @path, with W25Q128JV that is never busy. -EPROTO: it would not listen so. */
int peer_start_emulator(struct peer *peer, enum peer_line line, const char *path);

/* Hangs up and waits for its end. */
void peer_stop(struct peer *peer);

#endif
