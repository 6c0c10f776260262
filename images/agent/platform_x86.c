// SPDX-License-Identifier: GPL-2.0-or-later
/* QEMU's `pc` machine, for x86-64 and i386: fw_cfg and pvpanic have I/O ports. */
#include "hypercall.h"

#include <endian.h>
#include <errno.h>
#include <sys/io.h>

#define PVPANIC_PORT 0x505
#define FW_CFG_SELECT_PORT 0x510
#define FW_CFG_DATA_PORT 0x511
#define FW_CFG_DMA_HIGH_PORT 0x514
#define FW_CFG_DMA_LOW_PORT 0x518

int hypercall_init(void)
{
	return iopl(3) < 0 ? -errno : 0;
}

void hypercall_leave(void)
{
	iopl(0);
}

void hypercall_pause(void)
{
	outb(PVPANIC_PANICKED, PVPANIC_PORT);
}

void platform_select(uint16_t key)
{
	outw(key, FW_CFG_SELECT_PORT);
}

/* glibc's insb() does not tell the compiler that it writes to memory. */
void platform_read(void *to, size_t bytes)
{
	insb(FW_CFG_DATA_PORT, to, bytes);
	__asm__ volatile("" : : "r"(to) : "memory");
}

void platform_start_dma(uint64_t address)
{
	outl(htobe32((uint32_t)(address >> 32)), FW_CFG_DMA_HIGH_PORT);
	outl(htobe32((uint32_t)address), FW_CFG_DMA_LOW_PORT);
}
