/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's three synchronous ways to the host: a pause, files in, and the virtual clock.
 *
 * All of them are port or memory accesses that QEMU serves before the next guest instruction runs,
 * so none of them depends on host timing (serial lines and virtio queues do).
 *
 * Sources: QEMU docs/specs/pvpanic (port 0x505), docs/specs/fw_cfg (ports 0x510 to 0x51b, DMA
 * interface), Linux Documentation/admin-guide/mm/pagemap.
 */
#ifndef AGENT_HYPERCALL_H
#define AGENT_HYPERCALL_H

#include <stddef.h>
#include <stdint.h>

/* Asks for port access for this process; 0 or a negative errno (EPERM without CAP_SYS_RAWIO). */
int hypercall_init(void);

/* Stops the machine at this very instruction (QEMU runs with `-action panic=pause`). */
void hypercall_pause(void);

/* The QEMU virtual clock in ns: under icount the time stamp counter counts one per nanosecond. */
uint64_t hypercall_virtual_ns(void);

/*
 * Copies the fw_cfg file `name` to the new file `path`.
 * Returns 0, -ENOENT where QEMU offers no such file, or another negative errno.
 */
int hypercall_fetch_file(const char *name, const char *path);

#endif
