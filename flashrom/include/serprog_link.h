/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SERPROG_LINK_H
#define SERPROG_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "clock.h"
#include "log.h"

/**
 * The byte stream to a serprog device, TCP or a character device. Errors are returned, not logged:
 * only the protocol above knows what was under way. -ETIMEDOUT is silence, -ECONNRESET a peer that
 * hung up.
 */
struct serprog_link {
	int fd;
	const struct clock *clock;
};

/** Connect to "HOST:PORT" ("[::1]:2000" too). A descriptor or -errno, cause logged. */
int serprog_link_open_tcp(const char *host_port, const struct log *log);

/** Open "/dev/ttyX" or "/dev/ttyX:BAUD", raw. A descriptor or -errno, cause logged. */
int serprog_link_open_tty(const char *device, const struct log *log);

int serprog_link_send(const struct serprog_link *link, const uint8_t *data, size_t bytes);

/**
 * Fill all of `parts`, which it uses up; `silence_ms_max` bounds each pause between bytes. Stops
 * early once the first byte is in and is not `first`, with -EBADMSG; the byte is in parts[0].
 */
int serprog_link_receive_after(const struct serprog_link *link, uint8_t first, struct iovec *parts,
	int count, uint32_t silence_ms_max);

/** Fill `data`, whatever comes. */
int serprog_link_receive(
	const struct serprog_link *link, uint8_t *data, size_t bytes, uint32_t silence_ms_max);

/** Throw away what comes in until nothing has for `quiet_ms`; -EBUSY if that takes `ms_max`. */
int serprog_link_drain(const struct serprog_link *link, uint32_t quiet_ms, uint32_t ms_max);

#endif
