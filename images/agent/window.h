/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A range of physical memory that the kernel does not use (`memmap=`), for files of the host and
 * then for the results. It is contiguous and at a known address, so a file of any size comes in by
 * one DMA transfer, without address translation.
 */
#ifndef AGENT_WINDOW_H
#define AGENT_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct window {
	uint8_t *bytes;
	size_t size_bytes;
	uint64_t address;
	uint8_t *memory; /* the range itself; equal to `bytes` unless that is a copy */
};

/* Maps `size_bytes` of physical memory at `address`; 0 or a negative errno. */
int window_open(struct window *window, uint64_t address, size_t size_bytes);

/*
 * On arm64 and armhf the kernel maps memory that it does not use as device memory: accesses must be
 * aligned, and system calls cannot copy from or to it. So there `bytes` is a copy: window_show()
 * writes its first `count` bytes to the range, and window_look() reads them from it. Elsewhere
 * `bytes` is the range itself, and these functions do nothing.
 */
void window_show(const struct window *window, size_t count);
void window_look(const struct window *window, size_t count);

#endif
