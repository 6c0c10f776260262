/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sys/mman.h>

#include "nicintel_spi.h"
#include "pci.h"

#define CONTROL_BYTES 4096

static const uint16_t controllers[] = {0x10D3, 0}; /* 82574L */

static volatile uint32_t *register_at(void *context, size_t at)
{
	return (volatile uint32_t *)(void *)((uint8_t *)context + at);
}

static uint32_t read_register(void *context, size_t at)
{
	return *register_at(context, at);
}

/* Reads back, so that the write has reached the card before a wait begins. */
static void write_register(void *context, size_t at, uint32_t value)
{
	*register_at(context, at) = value;
	(void)*register_at(context, at);
}

static void unmap(void *context)
{
	munmap(context, CONTROL_BYTES);
}

static int nicintel_spi_open(
	char *params, const struct clock *clock, const struct log *log, struct programmer **out)
{
	const struct pci_wanted wanted = {.ids = controllers, .region_mask = 1};
	struct nicintel_spi_registers registers = {read_register, write_register, unmap, NULL};
	uint64_t begins[PCI_REGIONS];
	volatile void *mapped;
	int error;

	if (*params != '\0') {
		log_error(log, "nicintel_spi: takes no parameters.\n");
		return -EINVAL;
	}
	error = pci_find(PCI_DEVICES, &wanted, begins);
	if (error != 0) {
		log_error(log, "nicintel_spi: found no network card with an Intel 82574L.\n");
		return error;
	}
	error = pci_map(begins[0], CONTROL_BYTES, "nicintel_spi", log, &mapped);
	if (error != 0)
		return error;
	registers.context = (void *)mapped;
	return nicintel_spi_attach(&registers, clock, log, out);
}

const struct programmer_driver nicintel_spi_driver = {
	.name = "nicintel_spi",
	.usage = "nicintel_spi",
	.open = nicintel_spi_open,
};
