/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bus.h"

const char *bus_name(uint8_t bus)
{
	switch (bus) {
	case BUS_PARALLEL:
		return "Parallel";
	case BUS_LPC:
		return "LPC";
	case BUS_FWH:
		return "FWH";
	case BUS_SPI:
		return "SPI";
	default:
		return "nothing";
	}
}
