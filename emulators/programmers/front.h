/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A front: the registers of one programmer that people own, from which the chip is reached. Pure:
 * an access of the program in, cycles and transfers on the bus out. Who lays the registers over a
 * machine, and what time it is, is the caller's.
 *
 * A guest is not trusted: any offset inside a window, any value and any order must be fine.
 */
#ifndef EMULATORS_PROGRAMMERS_FRONT_H
#define EMULATORS_PROGRAMMERS_FRONT_H

#include "bus.h"

/* One access: @size_bytes from @offset of the window on, all of it inside. */
struct front_access {
	uint64_t now_ns;
	uint64_t offset;
	unsigned int size_bytes;
};

/* Registers in a row, laid over a region of memory that the machine has. */
struct front_window {
	const char *region; /* QEMU's name of it */
	uint64_t offset;
	uint64_t size_bytes;
	unsigned int access_bytes_max; /* longer ones come in pieces, the lowest address first */
	/* @bus is NULL where there is no chip. */
	uint64_t (*read)(struct bus *bus, const struct front_access *access);
	void (*write)(struct bus *bus, const struct front_access *access, uint64_t value);
};

struct front {
	const char *name;
	const struct front_window *windows;
	size_t window_count;
};

extern const struct front ich9_front;
extern const struct front nicintel_front;

/* NULL: there is none of that name. */
const struct front *front_find(const char *name);

#endif
