/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An Intel 82574L network card with a SPI part. A program sets each pin by a register of the card,
 * once the card has granted the bus.
 *
 * Source: Intel 82574 GbE Controller Family Datasheet, revision 3.4, "EEPROM/Flash Control
 * Register" and "Flash Access".
 */
#include "front.h"

#define EECD_AT 0x10
#define EECD_WRITES_OFF 0x10 /* FWE: writes are disabled, as after a reset */
#define FLA_AT 0x1C
#define FLA_CLOCK 0x01
#define FLA_DESELECT 0x02
#define FLA_OUT 0x04
#define FLA_REPLY 0x08
#define FLA_REQUEST 0x10
#define FLA_GRANT 0x20
#define FLA_KEPT (FLA_CLOCK | FLA_DESELECT | FLA_OUT | FLA_REQUEST)
#define REGISTER_BYTES 4

struct nicintel_spi {
	uint32_t eecd; /* the bits that differ from those after a reset */
	uint32_t fla;
	struct spi_pins pins;
};

BUS_REGISTERS(nicintel_spi)

static uint32_t changed(uint32_t reg, const struct front_access *access, uint64_t value)
{
	const uint64_t mask = ((UINT64_C(1) << 8 * access->size_bytes) - 1) << 8 * access->offset;

	return (uint32_t)((reg & ~mask) | (value << 8 * access->offset & mask));
}

static uint64_t read_eecd(struct bus *bus, const struct front_access *access)
{
	return front_part_of(access, (bus ? nicintel_spi_of(bus)->eecd : 0) ^ EECD_WRITES_OFF);
}

static void write_eecd(struct bus *bus, const struct front_access *access, uint64_t value)
{
	uint32_t *eecd = &nicintel_spi_of(bus)->eecd;

	*eecd = changed(*eecd ^ EECD_WRITES_OFF, access, value) ^ EECD_WRITES_OFF;
}

static uint64_t read_fla(struct bus *bus, const struct front_access *access)
{
	const struct nicintel_spi *self = bus ? nicintel_spi_of(bus) : NULL;
	uint32_t fla = self ? self->fla : 0;

	if (fla & FLA_REQUEST)
		fla |= FLA_GRANT;
	if (!self || spi_pins_reply(&self->pins))
		fla |= FLA_REPLY;
	return front_part_of(access, fla);
}

static void write_fla(struct bus *bus, const struct front_access *access, uint64_t value)
{
	struct nicintel_spi *self = nicintel_spi_of(bus);

	self->fla = changed(self->fla, access, value) & FLA_KEPT;
	spi_pins_set(&self->pins, bus, access->now_ns,
		&(struct spi_levels){
			.selected = self->fla & FLA_REQUEST && !(self->fla & FLA_DESELECT),
			.clock = self->fla & FLA_CLOCK,
			.data = self->fla & FLA_OUT,
		});
}

static const struct front_window windows[] = {
	{
		.region = "e1000e-mmio",
		.offset = EECD_AT,
		.size_bytes = REGISTER_BYTES,
		.access_bytes_max = REGISTER_BYTES,
		.read = read_eecd,
		.write = write_eecd,
	},
	{
		.region = "e1000e-mmio",
		.offset = FLA_AT,
		.size_bytes = REGISTER_BYTES,
		.access_bytes_max = REGISTER_BYTES,
		.read = read_fla,
		.write = write_fla,
	},
};

const struct front nicintel_spi_front = {
	.name = "nicintel_spi",
	.windows = windows,
	.window_count = sizeof(windows) / sizeof(windows[0]),
};
