// SPDX-License-Identifier: GPL-2.0-or-later
/* Source: Linux Documentation/ABI/testing/sysfs-bus-pci, `enable`. */
#include "firmware.h"
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#define DEVICES "/sys/bus/pci/devices"

static int enable(const char *device)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), DEVICES "/%s/enable", device);
	return guest_write_text(path, "1");
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
	return error;
}
