// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sources: Linux Documentation/ABI/testing/sysfs-bus-pci, `enable`; Intel I/O Controller Hub 9
 * Family Datasheet, 316972-004, "RCBA".
 */
#include "firmware.h"
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define DEVICES "/sys/bus/pci/devices"
#define ICH9 DEVICES "/0000:00:1f.0/config"
#define ICH9_ID 0x29188086
#define ICH9_RCBA_AT 0xF0
#define ICH9_RCBA 0xFED1C001 /* the address that all boards use, and the enable bit */

static int enable(const char *device)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICES "/%s/enable", device);
	return guest_write_text(path, "1");
}

/* Reads vendor and device ID; *@id is 0 if the machine has no such device. */
static int read_id(const char *config, uint32_t *id)
{
	int file = open(config, O_RDONLY | O_CLOEXEC);
	int error = 0;

	*id = 0;
	if (file < 0)
		return errno == ENOENT ? 0 : -errno;
	if (pread(file, id, sizeof(*id), 0) != sizeof(*id))
		error = -EIO;
	close(file);
	return error;
}

static int place_chipset_registers(void)
{
	const uint32_t base = ICH9_RCBA;
	uint32_t id;
	int error = read_id(ICH9, &id);
	int file;

	if (error || id != ICH9_ID)
		return error;
	file = open(ICH9, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	if (pwrite(file, &base, sizeof(base), ICH9_RCBA_AT) != sizeof(base))
		error = -EIO;
	close(file);
	return error;
}

int firmware_enable_devices(void)
{
	DIR *devices = opendir(DEVICES);
	const struct dirent *device;
	int error = 0;

	if (!devices)
		return -errno;
	while (!error && (device = readdir(devices)) != NULL) {
		if (device->d_name[0] != '.')
			error = enable(device->d_name);
	}
	closedir(devices);
	return error ? error : place_chipset_registers();
}
