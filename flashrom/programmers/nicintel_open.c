/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a card among the PCI devices, and maps its registers. Source: Linux
 * Documentation/ABI/testing/sysfs-bus-pci. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nicintel.h"

#define DEVICES "/sys/bus/pci/devices"
#define MEMORY "/dev/mem"
#define CONTROL_BYTES 4096
#define VENDOR_INTEL 0x8086
#define CONTROL_REGION 0
#define FLASH_REGION 2
#define REGIONS 3

/* 82557 to 82559, and the same as 82551IT. */
static const unsigned long controllers[] = {0x1209, 0x1229};

static FILE *open_attribute(const char *devices, const char *device, const char *attribute)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", devices, device, attribute);
	return fopen(path, "re");
}

/* ULONG_MAX: it cannot be read. */
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

/* A line for each region: where it begins, where it ends, and its flags. */
static bool read_regions(const char *devices, const char *device, uint64_t begins[REGIONS])
{
	FILE *file = open_attribute(devices, device, "resource");
	char line[128];
	size_t count = 0;

	if (file == NULL)
		return false;
	while (count < REGIONS && fgets(line, sizeof(line), file) != NULL)
		begins[count++] = strtoull(line, NULL, 16);
	fclose(file);
	return count == REGIONS && begins[CONTROL_REGION] != 0 && begins[FLASH_REGION] != 0;
}

static bool is_controller(const char *devices, const char *device)
{
	const unsigned long id = read_number(devices, device, "device");

	if (read_number(devices, device, "vendor") != VENDOR_INTEL)
		return false;
	for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++) {
		if (id == controllers[i])
			return true;
	}
	return false;
}

int nicintel_find(const char *devices, struct nicintel_card *card)
{
	struct dirent **found;
	const int count = scandir(devices, &found, NULL, alphasort);
	int error = -ENODEV;

	for (int i = 0; i < count; i++) {
		uint64_t begins[REGIONS];

		if (error != 0 && is_controller(devices, found[i]->d_name) &&
			read_regions(devices, found[i]->d_name, begins)) {
			card->control = begins[CONTROL_REGION];
			card->flash = begins[FLASH_REGION];
			error = 0;
		}
		free(found[i]);
	}
	if (count >= 0)
		free((void *)found);
	return error;
}

static void unmap(struct nicintel_registers *registers)
{
	munmap((void *)registers->control, CONTROL_BYTES);
	munmap((void *)registers->flash, NICINTEL_WINDOW_BYTES);
}

static void *map(int memory, uint64_t at, size_t bytes)
{
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, (off_t)at);

	return mapped == MAP_FAILED ? NULL : mapped;
}

static int map_card(const struct nicintel_card *card, struct nicintel_registers *registers)
{
	const int memory = open(MEMORY, O_RDWR | O_SYNC | O_CLOEXEC);
	int error = memory < 0 ? -errno : 0;

	if (error != 0)
		return error;
	registers->unmap = unmap;
	registers->control = map(memory, card->control, CONTROL_BYTES);
	if (registers->control == NULL)
		error = -errno;
	registers->flash = error == 0 ? map(memory, card->flash, NICINTEL_WINDOW_BYTES) : NULL;
	if (error == 0 && registers->flash == NULL) {
		error = -errno;
		munmap((void *)registers->control, CONTROL_BYTES);
	}
	close(memory);
	return error;
}

static int report_no_card(const struct log *log)
{
	log_error(log, "nicintel: found no network card with a controller of Intel's 8255x.\n");
	return -ENODEV;
}

static int report_unreachable(const struct log *log, int error)
{
	log_error(log,
		"nicintel: cannot reach the card's registers: %s. Run as root, and let " MEMORY
		" be used (iomem=relaxed).\n",
		strerror(-error));
	return error;
}

static int nicintel_open(const char *params, const struct clock *clock, const struct log *log,
	struct programmer **out)
{
	struct nicintel_registers registers;
	struct nicintel_card card;
	int error;

	(void)clock;
	if (*params != '\0') {
		log_error(log, "nicintel: takes no parameters.\n");
		return -EINVAL;
	}
	if (nicintel_find(DEVICES, &card) != 0)
		return report_no_card(log);
	error = map_card(&card, &registers);
	if (error != 0)
		return report_unreachable(log, error);
	return nicintel_attach(&registers, out);
}

const struct programmer_driver nicintel_driver = {
	.name = "nicintel",
	.usage = "nicintel",
	.open = nicintel_open,
};
