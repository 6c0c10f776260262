/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flash part that a board boots from, at the top of 4 GiB, behind the LPC bridge of an
 * AMD-8111. QEMU's machine has a PIIX3 as this PCI device. A program reads the ID of the AMD-8111
 * there; the rest of the configuration is that of the PIIX3.
 *
 * The machine boots from QEMU's ROM, which has the same addresses, so the part replaces the ROM
 * only while the bridge passes writes.
 *
 * Sources: AMD-8111 HyperTransport I/O Hub Data Sheet, 24674 revision 3.00, DevB:0x00 and
 * DevB:0x40; PCI Local Bus Specification 3.0, 3.2.2.3.2 "Software Generation of Configuration
 * Transactions".
 */
#include "front.h"

#define CONFIG_OF_BRIDGE UINT64_C(0x80000800) /* bus 0, device 1, function 0; enabled */
#define CONFIG_DWORD UINT64_C(0xFFFFFFFC)
#define ID_AT 0x00
#define ID UINT64_C(0x74681022)
#define ROM_CONTROL_AT 0x40
#define ROM_WRITE_ENABLE 0x01

#define WINDOW_BYTES (UINT64_C(8) << 20) /* a part, and registers of an FWH 4 MiB below it */
#define FOUR_GIB (UINT64_C(4) << 30)
#define BUS_BYTES (UINT64_C(16) << 20) /* parts see 24 bits of an address */

struct amd8111 {
	bool passes_writes;
};

BUS_REGISTERS(amd8111)

static bool is_at(const struct front_access *access, uint64_t reg)
{
	return (access->index & CONFIG_DWORD) == (CONFIG_OF_BRIDGE | reg);
}

static uint64_t read_config(struct bus *bus, const struct front_access *access)
{
	(void)bus;
	return is_at(access, ID_AT) ? front_part_of(access, ID) : access->beneath;
}

static void write_config(struct bus *bus, const struct front_access *access, uint64_t value)
{
	if (is_at(access, ROM_CONTROL_AT) && access->offset == 0)
		amd8111_of(bus)->passes_writes = (value & ROM_WRITE_ENABLE) != 0;
}

static bool is_part_shown(struct bus *bus)
{
	return bus && amd8111_of(bus)->passes_writes;
}

static uint32_t address_of(const struct front_access *access)
{
	return (uint32_t)(BUS_BYTES - WINDOW_BYTES + access->offset);
}

static uint64_t read_part(struct bus *bus, const struct front_access *access)
{
	return bus ? bus_read_cycle(bus, access->now_ns, address_of(access)) : BUS_FLOATING;
}

static void write_part(struct bus *bus, const struct front_access *access, uint64_t value)
{
	bus_write_cycle(bus, access->now_ns, address_of(access), (uint8_t)value);
}

static const struct front_window windows[] = {
	{
		.region = "pci-conf-data",
		.is_passed = true,
		.index_region = "pci-conf-idx",
		.size_bytes = 4,
		.access_bytes_max = 4,
		.read = read_config,
		.write = write_config,
	},
	{
		.region = "system",
		.offset = FOUR_GIB - WINDOW_BYTES,
		.size_bytes = WINDOW_BYTES,
		.access_bytes_max = 1,
		.is_shown = is_part_shown,
		.read = read_part,
		.write = write_part,
	},
};

const struct front amd8111_front = {
	.name = "amd8111",
	.memory_buses =
		1u << PARALLEL_BUS_PARALLEL | 1u << PARALLEL_BUS_LPC | 1u << PARALLEL_BUS_FWH,
	.windows = windows,
	.window_count = sizeof(windows) / sizeof(windows[0]),
};
