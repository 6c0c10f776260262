/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices on a PCI bus. Source: Linux Documentation/ABI/testing/sysfs-bus-pci. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pci.h"

#define PCI_MEMORY "/dev/mem"
#define VENDOR_INTEL 0x8086

static FILE *open_attribute(const char *devices, const char *device, const char *attribute)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", devices, device, attribute);
	return fopen(path, "re");
}

/* Returns ULONG_MAX if the number cannot be read. */
static unsigned long read_number(const char *devices, const char *device, const char *attribute)
{
	FILE *file = open_attribute(devices, device, attribute);
	char text[32];
	unsigned long number = ULONG_MAX;

	if (file == NULL)
		return number;
	if (fgets(text, sizeof(text), file) != NULL)
		number = strtoul(text, NULL, 16);
	fclose(file);
	return number;
}

/* `resource` has a line for each region: its begin, its end, and its flags. */
static bool read_regions(
	const char *devices, const char *device, unsigned int mask, uint64_t begins[PCI_REGIONS])
{
	FILE *file = open_attribute(devices, device, "resource");
	char line[128];
	size_t count = 0;

	if (file == NULL)
		return false;
	while (count < PCI_REGIONS && fgets(line, sizeof(line), file) != NULL) {
		begins[count] = strtoull(line, NULL, 16);
		if (begins[count] != 0)
			mask &= ~(1U << count);
		count++;
	}
	fclose(file);
	return mask == 0;
}

static bool is_wanted(const char *devices, const char *device, const uint16_t *ids)
{
	const unsigned long id = read_number(devices, device, "device");

	if (read_number(devices, device, "vendor") != VENDOR_INTEL)
		return false;
	while (*ids != 0 && *ids != id)
		ids++;
	return *ids != 0;
}

int pci_find(const char *devices, const struct pci_wanted *wanted, uint64_t begins[PCI_REGIONS])
{
	struct dirent **found;
	const int count = scandir(devices, &found, NULL, alphasort);
	int error = -ENODEV;

	for (int i = 0; i < count; i++) {
		if (error != 0 && is_wanted(devices, found[i]->d_name, wanted->ids) &&
			read_regions(devices, found[i]->d_name, wanted->region_mask, begins))
			error = 0;
		free(found[i]);
	}
	if (count >= 0)
		free((void *)found);
	return error;
}

static int report_unreachable(const char *programmer, const struct log *log, int error)
{
	log_error(log,
		"%s: cannot reach the card's registers: %s. Run as root, and let " PCI_MEMORY
		" be used (iomem=relaxed).\n",
		programmer, strerror(-error));
	return error;
}

int pci_map(uint64_t at, size_t bytes, const char *programmer, const struct log *log,
	volatile void **out)
{
	const int memory = open(PCI_MEMORY, O_RDWR | O_SYNC | O_CLOEXEC);
	void *mapped;
	int error = 0;

	if (memory < 0)
		return report_unreachable(programmer, log, -errno);
	mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, (off_t)at);
	if (mapped == MAP_FAILED)
		error = report_unreachable(programmer, log, -errno);
	else
		*out = mapped;
	close(memory);
	return error;
}
