// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The `virt` machines of Arm and RISC-V: fw_cfg and pvpanic have registers in memory. Those of
 * fw_cfg have the same address in every QEMU (hw/arm/virt.c, base_memmap; hw/riscv/virt.c,
 * virt_memmap). pvpanic is PCI device 1; the kernel assigns its addresses.
 */
#include "guest.h"
#include "hypercall.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096
#ifdef __riscv
#define FW_CFG_ADDRESS UINT64_C(0x10100000)
#else
#define FW_CFG_ADDRESS UINT64_C(0x09020000)
#endif
#define FW_CFG_DATA_OFFSET 0x0
#define FW_CFG_SELECT_OFFSET 0x8
#define FW_CFG_DMA_OFFSET 0x10
#define PVPANIC_FOLDER "/sys/bus/pci/devices/0000:00:01.0/"

/* Pages of this program that hypercall_init() replaces with the devices' registers. */
static volatile uint8_t fw_cfg[PAGE_BYTES] __attribute__((aligned(PAGE_BYTES)));
static volatile uint8_t pvpanic[PAGE_BYTES] __attribute__((aligned(PAGE_BYTES)));

static int map_registers(const char *path, uint64_t offset, volatile uint8_t *over)
{
	int file = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
	void *page;
	int error;

	if (file < 0)
		return -errno;
	page = mmap((void *)over, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
		(off_t)offset);
	error = page == MAP_FAILED ? -errno : 0;
	close(file);
	return error;
}

/*
 * Returns true if pvpanic's registers start on a page boundary, as mmap() requires here. Without
 * firmware the kernel assigns the addresses; as there is no other PCI device, pvpanic is at the
 * start of the window. The file has a line `START END FLAGS` for each region; the registers are in
 * the first.
 */
static bool pvpanic_begins_a_page(void)
{
	char *regions = guest_read_text(PVPANIC_FOLDER "resource");
	uint64_t start = regions ? strtoull(regions, NULL, 16) : 0;

	free(regions);
	return start != 0 && start % PAGE_BYTES == 0;
}

/* A PCI device answers only after it is enabled. */
int hypercall_init(void)
{
	int error = guest_write_text(PVPANIC_FOLDER "enable", "1");

	if (!error && !pvpanic_begins_a_page())
		error = -ENODEV;
	if (!error)
		error = map_registers("/dev/mem", FW_CFG_ADDRESS, fw_cfg);
	if (!error)
		error = map_registers(PVPANIC_FOLDER "resource0", 0, pvpanic);
	return error;
}

/* Does nothing: the mappings end with the program. */
void hypercall_leave(void)
{
}

void hypercall_pause(void)
{
	pvpanic[0] = PVPANIC_PANICKED;
}

void platform_select(uint16_t key)
{
	*(volatile uint16_t *)(fw_cfg + FW_CFG_SELECT_OFFSET) = htobe16(key);
}

void platform_read(void *to, size_t bytes)
{
	for (uint8_t *at = to; bytes > 0; bytes--)
		*at++ = fw_cfg[FW_CFG_DATA_OFFSET];
}

void platform_start_dma(uint64_t address)
{
	*(volatile uint64_t *)(fw_cfg + FW_CFG_DMA_OFFSET) = htobe64(address);
}
