/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's synchronous calls to the host: a pause, the fetch of a file, and a mark in a trace.
 * The agent's clock is here, too.
 *
 * Each of these calls is a port or memory access that QEMU serves before the next guest instruction
 * runs, so none of them depends on host timing (serial lines and virtio queues do).
 *
 * Sources: QEMU docs/specs/pvpanic, docs/specs/fw_cfg (DMA interface).
 */
#ifndef AGENT_HYPERCALL_H
#define AGENT_HYPERCALL_H

#include <stddef.h>
#include <stdint.h>

#include "window.h"
#include "shared/units.h"

/*
 * Returns the agent's clock in ns; each agent's main file defines it. Under icount it is QEMU's
 * virtual clock, read from the raw counter as in the emulator. In the live lane it is
 * CLOCK_MONOTONIC, which the host compares with its own.
 */
uint64_t hypercall_virtual_ns(void);

/* The ends of a cell's stages. The rig's benchmark uses the same numbers. */
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
 * Marks the end of a stage in a trace of QEMU, by selecting a file that fw_cfg does not have. This
 * changes nothing in the guest, traced or not.
 */
void hypercall_mark(enum hypercall_mark mark);

/*
 * Copies the fw_cfg file `name` into the window, and sets `*content` and `*bytes` to that copy.
 * Returns 0, -ENOENT if QEMU has no such file, -ENOSPC if it is larger than the window, or -EIO.
 */
int hypercall_fetch(
	const struct window *window, const char *name, const uint8_t **content, size_t *bytes);

/*
 * The functions below differ between QEMU's machines, in the addresses of devices. The architecture
 * decides which platform_*.c is built.
 */

/* Gets access to the devices; call it first. Returns 0 or a negative errno. */
int hypercall_init(void);

/* Drops port access in a child, because the kernel would handle it at each context switch. */
void hypercall_leave(void);

/* The pvpanic device's bit for a guest that panicked (QEMU docs/specs/pvpanic). */
#define PVPANIC_PANICKED 1

/* Pauses the machine at this very access (QEMU runs with `-action panic=pause`). */
void hypercall_pause(void);

/* Selects the item of fw_cfg with that key, and reads the next bytes of the selected item. */
void platform_select(uint16_t key);
void platform_read(void *to, size_t bytes);

/* Gives fw_cfg the physical address of a DMA request, and returns when the request is done. */
void platform_start_dma(uint64_t address);

#endif
