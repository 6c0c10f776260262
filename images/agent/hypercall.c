// SPDX-License-Identifier: GPL-2.0-or-later
#include "hypercall.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define FW_CFG_KEY_DIRECTORY 0x19
#define FW_CFG_KEY_OF_MARKS 0x3f00
#define FW_CFG_DMA_READ (1u << 1)
#define FW_CFG_DMA_SELECT (1u << 3)

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

void hypercall_mark(enum hypercall_mark mark)
{
	platform_select((uint16_t)(FW_CFG_KEY_OF_MARKS + mark));
}

static bool find_entry(const char *name, struct fw_cfg_entry *entry)
{
	uint32_t count = 0;

	platform_select(FW_CFG_KEY_DIRECTORY);
	platform_read(&count, sizeof(count));
	for (uint32_t i = be32toh(count); i > 0; i--) {
		platform_read(entry, sizeof(*entry));
		if (strncmp(entry->name, name, sizeof(entry->name)) == 0)
			return true;
	}
	return false;
}

int hypercall_fetch(
	const struct window *window, const char *name, const uint8_t **content, size_t *bytes)
{
	volatile struct fw_cfg_dma *dma = (volatile struct fw_cfg_dma *)window->bytes;
	struct fw_cfg_entry entry = {0};
	uint32_t key;

	if (!find_entry(name, &entry))
		return -ENOENT;
	if (be32toh(entry.size) > window->size_bytes - sizeof(*dma))
		return -ENOSPC;
	key = be16toh(entry.key);
	dma->control = htobe32(FW_CFG_DMA_READ | FW_CFG_DMA_SELECT | key << 16);
	dma->length = entry.size;
	dma->address = htobe64(window->address + sizeof(*dma));
	window_show(window, sizeof(*dma));
	platform_start_dma(window->address);
	window_look(window, sizeof(*dma) + be32toh(entry.size));
	if (dma->control != 0)
		return -EIO;
	*content = window->bytes + sizeof(*dma);
	*bytes = be32toh(entry.size);
	return 0;
}
