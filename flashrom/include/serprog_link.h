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
 * The byte stream to a serprog device, by TCP or a character device. Functions on a link return 0
 * or -errno and log nothing, since only the protocol above knows what the bytes were for.
 * -ETIMEDOUT is silence, -ECONNRESET a peer that hung up.
 */
struct serprog_link {
	int fd;
	const struct clock *clock;
};

int serprog_link_send(const struct serprog_link *link, const uint8_t *data, size_t bytes);

/**
 * Fills all of `parts`, which it changes. `silence_ms_max` bounds each pause between bytes. Returns
 * -EBADMSG as soon as the first byte, in parts[0], is not `first`.
 */
int serprog_link_receive_after(const struct serprog_link *link, uint8_t first, struct iovec *parts,
	int count, uint32_t silence_ms_max);

/** Fills `data` with any bytes. */
int serprog_link_receive(
	const struct serprog_link *link, uint8_t *data, size_t bytes, uint32_t silence_ms_max);

/** Drops bytes until none came for `quiet_ms`. Returns -EBUSY if that takes `ms_max`. */
int serprog_link_drain(const struct serprog_link *link, uint32_t quiet_ms, uint32_t ms_max);

#endif
