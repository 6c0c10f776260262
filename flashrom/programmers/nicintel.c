/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part in a memory window of the card: each access to a byte is a cycle on the part's bus.
 *
 * Source: Intel 8255x 10/100 Mbps Ethernet Controller Family Open Source Software Developer Manual,
 * revision 1.0, "Flash Memory Mapped Base Address Register" and "Control/Status Registers".
 */
#include <errno.h>
#include <stdlib.h>

#include "nicintel.h"

#define FLASH_CONTROL 0x0C /* 16 bits; 1: the part may be written to */

struct nicintel {
	struct programmer base;
	struct nicintel_registers registers;
};

static struct nicintel *nicintel_self(struct programmer *programmer)
{
	return (struct nicintel *)programmer;
}

/* A part that is smaller than the window appears several times in it. */
static volatile uint8_t *cell_at(struct programmer *programmer, uint32_t address)
{
	return nicintel_self(programmer)->registers.flash + address % NICINTEL_WINDOW_BYTES;
}

static int read_bytes(struct programmer *programmer, uint32_t address, uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = *cell_at(programmer, address + (uint32_t)i);
	return 0;
}

static int write_byte(struct programmer *programmer, uint32_t address, uint8_t value)
{
	*cell_at(programmer, address) = value;
	return 0;
}

/* Bridges may delay writes, but forward them before they answer a read. */
static int flush(struct programmer *programmer)
{
	(void)*nicintel_self(programmer)->registers.control;
	return 0;
}

static void destroy(struct programmer *programmer)
{
	struct nicintel *self = nicintel_self(programmer);

	self->registers.unmap(&self->registers);
	free(self);
}

static const struct programmer_ops ops = {
	.read_bytes = read_bytes,
	.write_byte = write_byte,
	.flush = flush,
	.destroy = destroy,
};

int nicintel_attach(const struct nicintel_registers *registers, struct programmer **out)
{
	struct nicintel *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		registers->unmap(registers);
		return -ENOMEM;
	}
	self->registers = *registers;
	self->base = (struct programmer){
		.name = "nicintel",
		.ops = &ops,
		.buses = BUS_PARALLEL,
		.read_bytes_max = NICINTEL_WINDOW_BYTES,
		.size_bytes_max = NICINTEL_WINDOW_BYTES,
	};
	registers->control[FLASH_CONTROL] = 1;
	registers->control[FLASH_CONTROL + 1] = 0;
	*out = &self->base;
	return 0;
}
