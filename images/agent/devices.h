/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's devices, and their drivers, which are modules of its kernel. All functions return 0
 * or a negative errno.
 */
#ifndef AGENT_DEVICES_H
#define AGENT_DEVICES_H

/*
 * Enables all PCI devices, and an ICH9's chipset registers. On other machines the firmware does
 * that; these guests have none. Call it before the modules: sysfs cannot enable a device that has a
 * driver.
 */
int devices_enable(void);

int devices_load_module(const char *path);

/* Loads all modules of a folder, which may be missing, in order of name. */
int devices_load_modules(const char *folder);

/* Makes /dev/spidevBUS.SELECT for each device on an SPI bus; there may be none. */
int devices_bind_spidev(void);

#endif
