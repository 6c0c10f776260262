/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When bytes came to a socket, as the kernel noted it: whatever the scheduler did to their reader
 * since. For readers that live by CLOCK_MONOTONIC.
 *
 * The kernel stamps what a TCP connection receives (SO_TIMESTAMPNS, since Linux 4.16), on the
 * loopback interface within the sender's own call. It stamps by the wall clock, which is compared
 * with CLOCK_MONOTONIC at once.
 */
#ifndef EMULATORS_SERPROG_ARRIVAL_H
#define EMULATORS_SERPROG_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The last byte that was read came between the two. Both 0: nobody knows. */
struct arrival {
	uint64_t since_ns;
	uint64_t until_ns;
};

/* Returns true if the kernel stamps what comes to @fd, which it does only for sockets. */
bool arrival_enable(int fd);

/* As read(), of an @fd that was enabled. */
ssize_t arrival_read(int fd, void *bytes, size_t size, struct arrival *arrival);

#endif
