/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BUS_H
#define BUS_H

/** The buses of flash chips, as bits. Values are those of the serprog protocol (Q_BUSTYPE). */
enum bus {
	BUS_PARALLEL = 1 << 0,
	BUS_LPC = 1 << 1,
	BUS_FWH = 1 << 2,
	BUS_SPI = 1 << 3,
};

/** The buses with memory cycles, each of which reads or writes one byte at an address. */
#define BUSES_MEMORY (BUS_PARALLEL | BUS_LPC | BUS_FWH)

#endif
