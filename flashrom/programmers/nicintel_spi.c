/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An SPI bus that is driven by the bits of a register, one bit a pin: mode 0, most significant bit
 * first. The card must grant the bus before a command.
 *
 * Source: Intel 82574 GbE Controller Family Datasheet, revision 3.4, "EEPROM/Flash Control
 * Register" and "Flash Access".
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "pci.h"
#include "programmers.h"

#define EECD 0x10
#define EECD_WRITES UINT32_C(0x30)
#define EECD_WRITES_OFF UINT32_C(0x10)
#define EECD_WRITES_ON UINT32_C(0x20)
#define FLA 0x1C
#define FLA_CLOCK UINT32_C(0x01)
#define FLA_DESELECT UINT32_C(0x02)
#define FLA_OUT UINT32_C(0x04)
#define FLA_REPLY UINT32_C(0x08)
#define FLA_REQUEST UINT32_C(0x10)
#define FLA_GRANT UINT32_C(0x20)

#define HALF_PERIOD_US 1
#define GRANT_US_MAX 1000000
#define BYTES_MAX (UINT32_C(1) << 16)

struct nicintel_spi {
	struct programmer base;
	struct nicintel_spi_registers registers;
	const struct clock *clock;
	const struct log *log;
};

static struct nicintel_spi *nicintel_spi_self(struct programmer *programmer)
{
	return (struct nicintel_spi *)programmer;
}

static uint32_t read_register(const struct nicintel_spi *self, size_t at)
{
	return self->registers.read(self->registers.context, at);
}

static void write_register(const struct nicintel_spi *self, size_t at, uint32_t value)
{
	self->registers.write(self->registers.context, at, value);
}

static void set_pins(const struct nicintel_spi *self, uint32_t pins)
{
	write_register(self, FLA, FLA_REQUEST | pins);
	clock_delay_us(self->clock, HALF_PERIOD_US);
}

/* The part samples a bit when the clock rises, and outputs its next one when the clock falls. */
static uint8_t exchange(const struct nicintel_spi *self, uint8_t sent)
{
	uint8_t received = 0;

	for (int bit = 7; bit >= 0; bit--) {
		const uint32_t out = sent >> bit & 1 ? FLA_OUT : 0;

		set_pins(self, out);
		received = (uint8_t)(received << 1);
		received |= read_register(self, FLA) & FLA_REPLY ? 1 : 0;
		set_pins(self, out | FLA_CLOCK);
	}
	return received;
}

static int request_bus(const struct nicintel_spi *self)
{
	write_register(self, FLA, FLA_REQUEST | FLA_DESELECT);
	for (unsigned int us = 0; us < GRANT_US_MAX; us++) {
		if (read_register(self, FLA) & FLA_GRANT)
			return 0;
		clock_delay_us(self->clock, 1);
	}
	write_register(self, FLA, FLA_DESELECT);
	log_error(self->log, "nicintel_spi: the card does not grant the bus.\n");
	return -ETIMEDOUT;
}

static int send_command(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
	uint8_t *rx, size_t rx_bytes)
{
	const struct nicintel_spi *self = nicintel_spi_self(programmer);
	const int error = request_bus(self);

	if (error != 0)
		return error;
	set_pins(self, 0);
	for (size_t i = 0; i < tx_bytes; i++)
		exchange(self, tx[i]);
	for (size_t i = 0; i < rx_bytes; i++)
		rx[i] = exchange(self, 0);
	set_pins(self, 0);
	set_pins(self, FLA_DESELECT);
	write_register(self, FLA, FLA_DESELECT);
	return 0;
}

static void allow_writes(const struct nicintel_spi *self, bool allowed)
{
	const uint32_t others = read_register(self, EECD) & ~EECD_WRITES;

	write_register(self, EECD, others | (allowed ? EECD_WRITES_ON : EECD_WRITES_OFF));
}

static void destroy(struct programmer *programmer)
{
	struct nicintel_spi *self = nicintel_spi_self(programmer);

	allow_writes(self, false);
	self->registers.unmap(self->registers.context);
	free(self);
}

static const struct programmer_ops ops = {
	.spi_command = send_command,
	.destroy = destroy,
};

int nicintel_spi_attach(const struct nicintel_spi_registers *registers, const struct clock *clock,
	const struct log *log, struct programmer **out)
{
	struct nicintel_spi *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		registers->unmap(registers->context);
		return -ENOMEM;
	}
	*self = (struct nicintel_spi){
		.base =
			{
				.name = "nicintel_spi",
				.ops = &ops,
				.buses = BUS_SPI,
				.write_bytes_max = BYTES_MAX,
				.read_bytes_max = BYTES_MAX,
			},
		.registers = *registers,
		.clock = clock,
		.log = log,
	};
	allow_writes(self, true);
	*out = &self->base;
	return 0;
}

#define CONTROL_BYTES 4096

static const uint16_t controllers[] = {0x10D3, 0}; /* 82574L */

static volatile uint32_t *register_at(void *context, size_t at)
{
	return (volatile uint32_t *)(void *)((uint8_t *)context + at);
}

static uint32_t read_mapped(void *context, size_t at)
{
	return *register_at(context, at);
}

/* Reads the register back, so that the write has reached the card before a wait begins. */
static void write_mapped(void *context, size_t at, uint32_t value)
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
	struct nicintel_spi_registers registers = {read_mapped, write_mapped, unmap, NULL};
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
