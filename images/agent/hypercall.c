// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "hypercall.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#define PVPANIC_PORT 0x505
#define PVPANIC_PANICKED 1

#define FW_CFG_SELECT_PORT 0x510
#define FW_CFG_DATA_PORT 0x511
#define FW_CFG_DMA_HIGH_PORT 0x514
#define FW_CFG_DMA_LOW_PORT 0x518
#define FW_CFG_KEY_DIRECTORY 0x19
#define FW_CFG_DMA_ERROR (1u << 0)
#define FW_CFG_DMA_READ (1u << 1)
#define FW_CFG_DMA_SELECT (1u << 3)

#define PAGE_BYTES 4096u
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_FRAME_MASK ((UINT64_C(1) << 55) - 1)

/* All fields big-endian. */
struct fw_cfg_dma {
	uint32_t control;
	uint32_t length;
	uint64_t address;
} __attribute__((aligned(16)));

struct fw_cfg_entry {
	uint32_t size;
	uint16_t key;
	uint16_t reserved;
	char name[56];
};

int hypercall_init(void)
{
	return iopl(3) < 0 ? -errno : 0;
}

void hypercall_pause(void)
{
	outb(PVPANIC_PANICKED, PVPANIC_PORT);
}

uint64_t hypercall_virtual_ns(void)
{
	return __rdtsc();
}

static int physical_address(int pagemap, const void *page, uint64_t *address)
{
	uint64_t entry;
	off_t offset = (off_t)((uintptr_t)page / PAGE_BYTES * sizeof(entry));

	if (pread(pagemap, &entry, sizeof(entry), offset) != sizeof(entry))
		return -EIO;
	if (!(entry & PAGEMAP_PRESENT) || !(entry & PAGEMAP_FRAME_MASK))
		return -EFAULT;
	*address = (entry & PAGEMAP_FRAME_MASK) * PAGE_BYTES + (uintptr_t)page % PAGE_BYTES;
	return 0;
}

/* glibc's insb() does not tell the compiler that it writes to memory. */
static void read_data_port(void *to, size_t bytes)
{
	insb(FW_CFG_DATA_PORT, to, bytes);
	__asm__ volatile("" : : "r"(to) : "memory");
}

static bool find_entry(const char *name, struct fw_cfg_entry *entry)
{
	uint32_t count = 0;

	outw(FW_CFG_KEY_DIRECTORY, FW_CFG_SELECT_PORT);
	read_data_port(&count, sizeof(count));
	for (uint32_t i = be32toh(count); i > 0; i--) {
		read_data_port(entry, sizeof(*entry));
		if (strncmp(entry->name, name, sizeof(entry->name)) == 0)
			return true;
	}
	return false;
}

/* One page at a time, since neighbours in our address space need not be neighbours in memory. */
static int copy_pages(int pagemap, uint16_t key, uint8_t *to, size_t size)
{
	static struct fw_cfg_dma dma __attribute__((aligned(PAGE_BYTES)));
	uint64_t dma_address, page_address;
	uint32_t select = FW_CFG_DMA_SELECT | (uint32_t)key << 16;
	int error;

	dma.control = 0; /* present before its address is asked for */
	error = physical_address(pagemap, &dma, &dma_address);
	for (size_t done = 0; !error && done < size; done += PAGE_BYTES) {
		size_t length = size - done < PAGE_BYTES ? size - done : PAGE_BYTES;

		error = physical_address(pagemap, to + done, &page_address);
		if (error)
			break;
		*(volatile uint32_t *)&dma.control = htobe32(FW_CFG_DMA_READ | select);
		dma.length = htobe32((uint32_t)length);
		dma.address = htobe64(page_address);
		__asm__ volatile("" ::: "memory");
		outl(htobe32((uint32_t)(dma_address >> 32)), FW_CFG_DMA_HIGH_PORT);
		outl(htobe32((uint32_t)dma_address), FW_CFG_DMA_LOW_PORT);
		if (*(volatile uint32_t *)&dma.control != 0)
			error = -EIO;
		select = 0;
	}
	return error;
}

int hypercall_fetch_file(const char *name, const char *path)
{
	struct fw_cfg_entry entry = {0};
	uint8_t *pages;
	size_t size;
	int file, pagemap, error;

	if (!find_entry(name, &entry))
		return -ENOENT;
	size = be32toh(entry.size);
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (file < 0 || pagemap < 0 || ftruncate(file, (off_t)size) < 0)
		return -errno;
	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
	if (pages == MAP_FAILED)
		return -errno;
	error = mlock(pages, size) < 0 ? -errno : 0;
	if (!error)
		error = copy_pages(pagemap, be16toh(entry.key), pages, size);
	munmap(pages, size);
	close(pagemap);
	close(file);
	return error;
}
