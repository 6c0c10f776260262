/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file in which the rig writes what it wants to see, for one cell after another: QEMU may be
 * reset, and goes on with another subject. It is mapped, so that a look at it costs nothing.
 *
 * The rig writes while QEMU is paused (rig/delayrig/machine/delay_watch.py).
 */
#ifndef EMULATORS_DELAYS_WISH_FILE_H
#define EMULATORS_DELAYS_WISH_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct wish_file {
	const char *mapped; /* the number of its cell (uint64_t), then a text and a zero */
	uint64_t known;     /* the number that was read last */
	uint64_t size;
};

/* A negative errno: it cannot be mapped. -EINVAL: it is too short. */
int wish_file_open(struct wish_file *file, const char *path);

/* Whether it is another cell's by now; from then on that one is known. */
bool wish_file_has_changed(struct wish_file *file);

/* What it holds; NULL: its text has no end. */
const char *wish_file_text(const struct wish_file *file);

#endif
