/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way back to the host: named byte strings in the window, which the host reads while the
 * machine is paused.
 *
 * Layout, little-endian: magic "FDRPARC1", u64 bytes used in all, u64 entries; then per entry
 * u64 length of name, u64 length of content, name, content.
 */
#ifndef AGENT_PARCEL_H
#define AGENT_PARCEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "window.h"

struct parcel {
	uint8_t *window;
	size_t capacity_bytes;
	size_t used_bytes;
	uint64_t entries;
};

/* Begins an empty parcel, in place of the window's content. -EINVAL: the window is too small. */
int parcel_open(struct parcel *parcel, const struct window *window);

/* Adds one entry. Returns 0, or -ENOSPC with the parcel unchanged. */
int parcel_add(struct parcel *parcel, const char *name, const void *content, size_t bytes);

/*
 * Adds `bytes` of the file `path` from `offset` on; 0 means up to its end. Returns 0, -ENOSPC, -EIO
 * if the file is shorter, or another negative errno.
 */
int parcel_add_file(
	struct parcel *parcel, const char *name, const char *path, off_t offset, size_t bytes);

/* Completes the parcel. The header comes last, so an incomplete parcel has no magic. */
void parcel_seal(struct parcel *parcel);

#endif
