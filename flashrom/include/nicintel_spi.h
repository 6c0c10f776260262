/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NICINTEL_SPI_H
#define NICINTEL_SPI_H

#include "programmer.h"

/** `-p nicintel_spi`: the SPI boot ROM of a network card with an Intel 82574L. */
extern const struct programmer_driver nicintel_spi_driver;

/** The card's registers, of 32 bits each, by their offset. */
struct nicintel_spi_registers {
	uint32_t (*read)(void *context, size_t at);
	void (*write)(void *context, size_t at, uint32_t value);
	void (*unmap)(void *context);
	void *context;
};

/** Speak to the part; the registers are unmapped in the end, also on error. 0 or -ENOMEM. */
int nicintel_spi_attach(const struct nicintel_spi_registers *registers, const struct clock *clock,
	const struct log *log, struct programmer **out);

#endif
