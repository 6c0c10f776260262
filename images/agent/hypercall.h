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

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/*
 * The agent's clock in ns, of its main file. Under icount it is QEMU's virtual clock, as the
 * emulator reads it: the raw counter. In a guest of real time it is CLOCK_MONOTONIC, which the host
 * compares with its own.
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

/*
 * The differences between machines of QEMU: the addresses of the devices. One of the files
 * platform_*.c is built, by the architecture.
 */

/* Gets at the devices; 0 or a negative errno (EPERM without CAP_SYS_RAWIO). Before all others. */
int hypercall_init(void);

/* In a child: gives up those rights, which the kernel would look at in each switch. */
void hypercall_leave(void);

/* The pvpanic device's bit for a guest that panicked (QEMU docs/specs/pvpanic). */
#define PVPANIC_PANICKED 1

/* Stops the machine at this very access (QEMU runs with `-action panic=pause`). */
void hypercall_pause(void);

/* Chooses what fw_cfg has under a key, from its start, and reads on in it. */
void platform_select(uint16_t key);
void platform_read(void *to, size_t bytes);

/* Gives fw_cfg the physical address of a DMA request, which it has done when this returns. */
void platform_start_dma(uint64_t address);

#endif
