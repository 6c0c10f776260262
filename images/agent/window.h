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
};

/* Maps `size_bytes` of physical memory at `address`; 0 or a negative errno. */
int window_open(struct window *window, uint64_t address, size_t size_bytes);

#endif
