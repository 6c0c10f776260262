/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's three synchronous ways to the host: a pause, files in, and the virtual clock.
 *
 * All of them are port or memory accesses that QEMU serves before the next guest instruction runs,
 * so none of them depends on host timing (serial lines and virtio queues do).
 *
 * Sources: QEMU docs/specs/pvpanic, docs/specs/fw_cfg (DMA interface).
 */
#ifndef AGENT_HYPERCALL_H
#define AGENT_HYPERCALL_H

#include <stddef.h>
#include <stdint.h>

#include "window.h"

/* Gets at the devices; 0 or a negative errno (EPERM without CAP_SYS_RAWIO). */
int hypercall_init(void);

/* In a child: gives up what hypercall_init() got. */
void hypercall_leave(void);

/* Stops the machine at this very instruction (QEMU runs with `-action panic=pause`). */
void hypercall_pause(void);

/*
 * The agent's clock in ns. Under icount it is QEMU's virtual clock, as the emulator reads it: the
 * raw counter (clock_counter.c). In a guest of real time it is CLOCK_MONOTONIC (clock_monotonic.c).
 */
uint64_t hypercall_virtual_ns(void);

/* The stages of a cell, each named by its end. The rig's benchmark knows them by these numbers. */
enum hypercall_mark {
	MARK_CELL_IN = 1,
	MARK_SUBJECT_IN,
	MARK_SETTLED,
	MARK_EMULATOR_READY,
	MARK_SUBJECT_CONNECTED,
	MARK_SUBJECT_ENDED,
	MARK_EMULATOR_ENDED,
	MARK_RESULTS_OUT,
};

/*
 * Lets who traces QEMU know that a stage is over: the choice of a file that fw_cfg does not have.
 * The guest sees nothing of it, traced or not.
 */
void hypercall_mark(enum hypercall_mark mark);

/*
 * Copies the fw_cfg file `name` into the window: `*content` and `*bytes` say where it is then.
 * Returns 0, -ENOENT where QEMU offers no such file, -ENOSPC where it is larger than the window,
 * or -EIO.
 */
int hypercall_fetch(
	const struct window *window, const char *name, const uint8_t **content, size_t *bytes);

#endif
