/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NICINTEL_SPI_H
#define NICINTEL_SPI_H

#include "programmer.h"

/** `-p nicintel_spi`: the SPI boot ROM of a network card with an Intel 82574L. */
extern const struct programmer_driver nicintel_spi_driver;

/** Access to the card's registers of 32 bits, by their offset. */
struct nicintel_spi_registers {
	uint32_t (*read)(void *context, size_t at);
	void (*write)(void *context, size_t at, uint32_t value);
	void (*unmap)(void *context);
	void *context;
};

/** Creates a programmer that owns `registers`; a failure unmaps them. Returns 0 or -ENOMEM. */
int nicintel_spi_attach(const struct nicintel_spi_registers *registers, const struct clock *clock,
	const struct log *log, struct programmer **out);

#endif
