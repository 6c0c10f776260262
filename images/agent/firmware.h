/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings that a machine's firmware makes; these guests have no firmware. */
#ifndef AGENT_FIRMWARE_H
#define AGENT_FIRMWARE_H

/* Enables all PCI devices, and an ICH9's chipset registers. Returns 0 or a negative errno. */
int firmware_enable_devices(void);

#endif
