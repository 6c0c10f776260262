/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arrival time of bytes at a socket, as the kernel stamped it, by CLOCK_MONOTONIC: the
 * scheduler of their reader does not change it.
 *
 * The kernel stamps the bytes of a TCP connection (SO_TIMESTAMPNS, since Linux 4.16), on the
 * loopback interface within the sender's own call. Stamps are by the wall clock, so it is compared
 * with CLOCK_MONOTONIC after each read.
 */
#ifndef EMULATORS_SERPROG_ARRIVAL_H
#define EMULATORS_SERPROG_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The interval in which the last byte that was read arrived. Both 0: unknown. */
struct arrival {
	uint64_t since_ns;
	uint64_t until_ns;
};

/* Asks the kernel to stamp bytes that arrive at @fd. Returns false if @fd is no socket. */
bool arrival_enable(int fd);

/* Reads as read() does, from an @fd that was enabled. Sets @arrival in any case. */
ssize_t arrival_read(int fd, void *bytes, size_t size, struct arrival *arrival);

#endif
