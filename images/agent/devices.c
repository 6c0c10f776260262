// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sources: init_module(2); Linux Documentation/ABI/testing/sysfs-bus-pci, `enable`; Linux
 * Documentation/spi/spidev, "Device Creation, Driver Binding"; Intel I/O Controller Hub 9 Family
 * Datasheet, 316972-004, "RCBA".
 */
#include "devices.h"
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PCI_DEVICES "/sys/bus/pci/devices"
#define ICH9 PCI_DEVICES "/0000:00:1f.0/config"
#define ICH9_ID 0x29188086
#define ICH9_RCBA_AT 0xF0
#define ICH9_RCBA 0xFED1C001 /* the address that all boards use, and the enable bit */
#define SPI_DEVICES "/sys/bus/spi/devices"
#define SPIDEV_BIND "/sys/bus/spi/drivers/spidev/bind"

/*
 * Calls `act` for each path in a folder, in order of name, until a call fails. A missing folder is
 * treated as an empty one.
 */
static int for_each(const char *folder, int (*act)(const char *path))
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);
	int error = 0;

	if (count < 0)
		return errno == ENOENT ? 0 : -errno;
	for (int i = 0; i < count; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (!error && entries[i]->d_name[0] != '.')
			error = act(path);
		free(entries[i]);
	}
	free((void *)entries);
	return error;
}

static int write_attribute(const char *device, const char *name, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", device, name);
	return guest_write_text(path, text);
}

static int enable(const char *device)
{
	return write_attribute(device, "enable", "1");
}

/* Reads the vendor and device ID into `*id`, 0 if the machine has no such device. */
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

int devices_enable(void)
{
	int error = for_each(PCI_DEVICES, enable);

	return error ? error : place_chipset_registers();
}

int devices_load_module(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	int error = file < 0 || syscall(SYS_finit_module, file, "", 0) < 0 ? -errno : 0;

	close(file);
	return error;
}

int devices_load_modules(const char *folder)
{
	return for_each(folder, devices_load_module);
}

static int bind_to_spidev(const char *device)
{
	int error = write_attribute(device, "driver_override", "spidev");

	return error ? error : guest_write_text(SPIDEV_BIND, strrchr(device, '/') + 1);
}

int devices_bind_spidev(void)
{
	return for_each(SPI_DEVICES, bind_to_spidev);
}
