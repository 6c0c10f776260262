/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The work of a machine's firmware before its system starts, which this guest lacks. */
#ifndef AGENT_FIRMWARE_H
#define AGENT_FIRMWARE_H

/* Lets the registers of all PCI devices and of a chipset be reached; 0 or a negative errno. */
int firmware_enable_devices(void);

#endif
