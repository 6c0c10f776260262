/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include <stdint.h>

#include "clock.h"
#include "programmer.h"

#define FAKE_MEMORY_WRITES_MAX 64

/**
 * A programmer with nothing but memory on its bus, on a clock of its own: it keeps what is written,
 * and reads what the test put there. No part, and so no rules: those are for the emulated ones.
 */
struct fake_memory {
	struct programmer base; /* first */
	struct clock clock;
	uint64_t now_ns;
	uint8_t *bytes; /* all that 24 bits reach; writes do not change it */
	struct {
		uint32_t address;
		uint8_t value;
		uint64_t now_ns;
	} writes[FAKE_MEMORY_WRITES_MAX];
	size_t write_count;
	size_t reads;
	size_t read_bytes_seen_max;
	size_t fail_read; /* the n-th, with -EIO; 0 is never */
};

void fake_memory_init(struct fake_memory *fake);
void fake_memory_deinit(struct fake_memory *fake);

#endif
