/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PCI_H
#define PCI_H

#include <stddef.h>
#include <stdint.h>

#define PCI_DEVICES "/sys/bus/pci/devices"
#define PCI_MEMORY "/dev/mem"
#define PCI_REGIONS 3

/** Intel devices with one of these numbers, ended by 0; the regions of memory that they need. */
struct pci_wanted {
	const uint16_t *ids;
	unsigned int region_mask;
};

/**
 * The first such device below `devices`, by the order of names, and the physical addresses at which
 * its regions begin. -ENODEV without one. Nothing is logged.
 */
int pci_find(const char *devices, const struct pci_wanted *wanted, uint64_t begins[PCI_REGIONS]);

/** Map physical memory; munmap() ends it. 0, or a negative errno. */
int pci_map(uint64_t at, size_t bytes, volatile void **out);

#endif
