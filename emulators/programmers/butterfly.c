/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A parallel port with a SPI part at the pins of Linux's driver spi-butterfly: programs reach the
 * part through the kernel's spidev. QEMU has the port; this front watches the writes to it, and
 * drives the line of the part's replies.
 *
 * Sources: Linux drivers/spi/spi-butterfly.c, "DATAFLASH"; IEEE 1284-2000, annex C (which lines a
 * register of the port inverts).
 */
#include "front.h"

#define DATA 0
#define STATUS 1
#define CONTROL 2
#define REGISTERS 3

#define DATA_CLOCK 0x01
#define DATA_OUT 0x80
#define CONTROL_SELECT 0x08 /* inverted by the port: 1 sets chip select low */
#define STATUS_REPLY 0x80   /* the line BUSY, inverted by the port */

struct butterfly {
	uint8_t data;
	uint8_t control;
	struct spi_pins pins;
};

BUS_REGISTERS(butterfly)

static uint64_t read_port(struct bus *bus, const struct front_access *access)
{
	if (!bus || access->offset != STATUS)
		return access->beneath;
	return (access->beneath & ~(uint64_t)STATUS_REPLY) |
	       (spi_pins_reply(&butterfly_of(bus)->pins) ? 0 : STATUS_REPLY);
}

static void write_port(struct bus *bus, const struct front_access *access, uint64_t value)
{
	struct butterfly *self = butterfly_of(bus);

	if (access->offset == DATA)
		self->data = (uint8_t)value;
	else if (access->offset == CONTROL)
		self->control = (uint8_t)value;
	spi_pins_set(&self->pins, bus, access->now_ns,
		&(struct spi_levels){
			.selected = self->control & CONTROL_SELECT,
			.clock = self->data & DATA_CLOCK,
			.data = self->data & DATA_OUT,
		});
}

static const struct front_window windows[] = {
	{
		.region = "parallel",
		.size_bytes = REGISTERS,
		.access_bytes_max = 1,
		.is_passed = true,
		.read = read_port,
		.write = write_port,
	},
};

const struct front butterfly_front = {
	.name = "butterfly",
	.windows = windows,
	.window_count = sizeof(windows) / sizeof(windows[0]),
};
