/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access of programs to devices on SPI buses of the guest's kernel. */
#ifndef AGENT_SPIDEV_H
#define AGENT_SPIDEV_H

/* Makes /dev/spidevBUS.SELECT for each such device; there may be none. 0 or a negative errno. */
int spidev_bind(void);

#endif
