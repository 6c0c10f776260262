/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PCI_H
#define PCI_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"

#define PCI_DEVICES "/sys/bus/pci/devices"
#define PCI_REGIONS 3

/** Intel devices: their IDs, ended by 0, and a bit for each memory region that must exist. */
struct pci_wanted {
	const uint16_t *ids;
	unsigned int region_mask;
};

/**
 * Finds the first such device, in order of names, below `devices`, and the physical addresses at
 * which its regions begin. Returns 0 or -ENODEV, and logs nothing.
 */
int pci_find(const char *devices, const struct pci_wanted *wanted, uint64_t begins[PCI_REGIONS]);

/** Maps physical memory; munmap() undoes it. Returns 0, or -errno with the cause logged. */
int pci_map(uint64_t at, size_t bytes, const char *programmer, const struct log *log,
	volatile void **out);

#endif
