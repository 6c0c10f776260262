/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs from one machine of QEMU's to another: where the devices are that stop the guest
 * and bring files in. One of the files platform_*.c is built, by the architecture.
 */
#ifndef AGENT_PLATFORM_H
#define AGENT_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

/* Its bit for a guest that panicked (QEMU docs/specs/pvpanic). */
#define PVPANIC_PANICKED 1

/* Gets at the devices; 0 or a negative errno. Before all others. */
int platform_init(void);

/* A child of the agent's has no use for its rights, which the kernel would look at in each switch.
 */
void platform_leave(void);

/* Tells the pvpanic device of a panic: one access, after which the machine stands. */
void platform_pause(void);

/* Chooses what fw_cfg has under a key, from its start. */
void platform_select(uint16_t key);

/* Reads on in what was chosen. */
void platform_read(void *to, size_t bytes);

/* Gives fw_cfg the physical address of a DMA request, which it has done when this returns. */
void platform_start_dma(uint64_t address);

#endif
