/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include <stdint.h>

#include "clock.h"
#include "programmer.h"

#define FAKE_MEMORY_WRITES_MAX 64

/*
 * A programmer with plain memory on its bus, and a clock of its own. It records writes, and reads
 * return the test's bytes. It has no part, so no rules: the emulated parts have those.
 */
struct fake_memory {
	struct programmer base; /* must be the first field */
	struct clock clock;
	uint64_t now_ns;
	uint8_t *bytes; /* the whole range of 24 bits; writes do not change it */
	struct {
		uint32_t address;
		uint8_t value;
		uint64_t now_ns;
	} writes[FAKE_MEMORY_WRITES_MAX];
	size_t write_count;
	size_t reads;
	size_t read_bytes_seen_max;
	size_t fail_read; /* the n-th read fails with -EIO; 0 for none */
};

void fake_memory_init(struct fake_memory *fake);
void fake_memory_deinit(struct fake_memory *fake);

#endif
