// SPDX-License-Identifier: GPL-2.0-or-later
/* Source: Linux Documentation/spi/spidev, "Device Creation, Driver Binding". */
#include "spidev.h"
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#define DEVICES "/sys/bus/spi/devices"
#define DRIVER "spidev"
#define BIND "/sys/bus/spi/drivers/" DRIVER "/bind"

static int bind_device(const char *device)
{
	char path[PATH_MAX];
	int error;

	snprintf(path, sizeof(path), DEVICES "/%s/driver_override", device);
	error = guest_write_text(path, DRIVER);
	return error ? error : guest_write_text(BIND, device);
}

int spidev_bind(void)
{
	DIR *devices = opendir(DEVICES);
	const struct dirent *device;
	int error = 0;

	if (!devices)
		return errno == ENOENT ? 0 : -errno;
	while (!error && (device = readdir(devices)) != NULL) {
		if (device->d_name[0] != '.')
			error = bind_device(device->d_name);
	}
	closedir(devices);
	return error;
}
