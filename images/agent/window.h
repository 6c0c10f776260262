/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stretch of physical memory that the kernel leaves alone (`memmap=`). Files of the host land
 * in it, and after them the results: contiguous and at a known address, so a file of any size
 * comes in at once, without a page table to be asked.
 */
#ifndef AGENT_WINDOW_H
#define AGENT_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct window {
	uint8_t *bytes;
	size_t size_bytes;
	uint64_t address;
	uint8_t *memory; /* the stretch itself; `bytes` where that can be used like any memory */
};

/* Maps `size_bytes` of physical memory at `address`; 0 or a negative errno. */
int window_open(struct window *window, uint64_t address, size_t size_bytes);

/*
 * On arm64 the kernel maps what is no memory of its own as it maps devices: every access must be
 * aligned, and its own copying fails there. So `bytes` is a copy, of which the first `count` go
 * over to the host with window_show(), and come over from it with window_look(). Elsewhere `bytes`
 * is the memory itself, and these do nothing.
 */
void window_show(const struct window *window, size_t count);
void window_look(const struct window *window, size_t count);

#endif
