/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices on SPI buses of the guest's kernel, as programs reach them. */
#ifndef AGENT_SPIDEV_H
#define AGENT_SPIDEV_H

/* Makes /dev/spidevBUS.SELECT of each such device, of which there may be none. 0 or -errno. */
int spidev_bind(void);

#endif
