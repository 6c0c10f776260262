/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part in a memory window of the card: each access to a byte is a cycle on the part's bus.
 *
 * Source: Intel 8255x 10/100 Mbps Ethernet Controller Family Open Source Software Developer Manual,
 * revision 1.0, "Flash Memory Mapped Base Address Register" and "Control/Status Registers".
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "pci.h"
#include "programmers.h"

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
static volatile uint8_t *byte_at(struct programmer *programmer, uint32_t address)
{
	return nicintel_self(programmer)->registers.flash + address % NICINTEL_WINDOW_BYTES;
}

static int read_bytes(struct programmer *programmer, uint32_t address, uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = *byte_at(programmer, address + (uint32_t)i);
	return 0;
}

static int write_byte(struct programmer *programmer, uint32_t address, uint8_t value)
{
	*byte_at(programmer, address) = value;
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

	self->registers.control[FLASH_CONTROL] = 0;
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

#define CONTROL_BYTES 4096
#define CONTROL_REGION 0
#define FLASH_REGION 2

/* 82551IT, and 82557 to 82559. */
static const uint16_t controllers[] = {0x1209, 0x1229, 0};

int nicintel_find(const char *devices, struct nicintel_card *card)
{
	const struct pci_wanted wanted = {
		.ids = controllers,
		.region_mask = 1U << CONTROL_REGION | 1U << FLASH_REGION,
	};
	uint64_t begins[PCI_REGIONS];
	const int error = pci_find(devices, &wanted, begins);

	if (error == 0) {
		card->control = begins[CONTROL_REGION];
		card->flash = begins[FLASH_REGION];
	}
	return error;
}

static void unmap(const struct nicintel_registers *registers)
{
	munmap((void *)registers->control, CONTROL_BYTES);
	munmap((void *)registers->flash, NICINTEL_WINDOW_BYTES);
}

static int map_card(const struct nicintel_card *card, const struct log *log,
	struct nicintel_registers *registers)
{
	volatile void *control;
	volatile void *flash;
	int error = pci_map(card->control, CONTROL_BYTES, "nicintel", log, &control);

	if (error != 0)
		return error;
	error = pci_map(card->flash, NICINTEL_WINDOW_BYTES, "nicintel", log, &flash);
	if (error == 0)
		*registers = (struct nicintel_registers){control, flash, unmap};
	else
		munmap((void *)control, CONTROL_BYTES);
	return error;
}

static int nicintel_open(
	char *params, const struct clock *clock, const struct log *log, struct programmer **out)
{
	struct nicintel_registers registers;
	struct nicintel_card card;
	int error;

	(void)clock;
	if (*params != '\0') {
		log_error(log, "nicintel: takes no parameters.\n");
		return -EINVAL;
	}
	error = nicintel_find(PCI_DEVICES, &card);
	if (error != 0) {
		log_error(log,
			"nicintel: found no network card with a controller of Intel's 8255x.\n");
		return error;
	}
	error = map_card(&card, log, &registers);
	return error == 0 ? nicintel_attach(&registers, out) : error;
}

const struct programmer_driver nicintel_driver = {
	.name = "nicintel",
	.usage = "nicintel",
	.open = nicintel_open,
};
