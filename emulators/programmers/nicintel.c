/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An Intel 8255x network card with a parallel boot ROM: the flash base address register shows
 * 128 KiB of it, byte by byte.
 *
 * Source: Intel 8255x 10/100 Mbps Ethernet Controller Family Open Source Software Developer Manual,
 * revision 1.0, "Flash Memory Mapped Base Address Register".
 */
#include "front.h"

#define WINDOW_BYTES (UINT64_C(128) << 10)

static uint64_t read_flash(struct bus *bus, const struct front_access *access)
{
	return bus ? bus_read_cycle(bus, access->now_ns, (uint32_t)access->offset) : BUS_FLOATING;
}

static void write_flash(struct bus *bus, const struct front_access *access, uint64_t value)
{
	bus_write_cycle(bus, access->now_ns, (uint32_t)access->offset, (uint8_t)value);
}

static const struct front_window windows[] = {
	{
		.region = "eepro100-flash",
		.size_bytes = WINDOW_BYTES,
		.access_bytes_max = 1,
		.read = read_flash,
		.write = write_flash,
	},
};

const struct front nicintel_front = {
	.name = "nicintel",
	.memory_buses = 1u << PARALLEL_BUS_PARALLEL,
	.windows = windows,
	.window_count = sizeof(windows) / sizeof(windows[0]),
};
