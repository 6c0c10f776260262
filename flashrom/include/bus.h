/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BUS_H
#define BUS_H

#include <stdint.h>

/** The ways to a flash chip, as bits. Values are those of the serprog protocol (Q_BUSTYPE). */
enum bus {
	BUS_PARALLEL = 1 << 0,
	BUS_LPC = 1 << 1,
	BUS_FWH = 1 << 2,
	BUS_SPI = 1 << 3,
};

/** All buses on which a part is memory: single cycles that read or write at an address. */
#define BUSES_MEMORY (BUS_PARALLEL | BUS_LPC | BUS_FWH)

/** "SPI", "Parallel", "LPC" or "FWH" for one bit; "nothing" for 0. */
const char *bus_name(uint8_t bus);

#endif
