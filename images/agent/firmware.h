/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine's firmware has done before its system starts, and this guest's has not. */
#ifndef AGENT_FIRMWARE_H
#define AGENT_FIRMWARE_H

/* Lets the registers of all PCI devices be reached; 0 or a negative errno. */
int firmware_enable_devices(void);

#endif
