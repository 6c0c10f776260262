/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An SPI bus of which a program sets each pin: mode 0 or 3, the highest bit first. The part takes
 * a bit when the clock rises, and drives one when it falls.
 */
#ifndef EMULATORS_PROGRAMMERS_SPI_PINS_H
#define EMULATORS_PROGRAMMERS_SPI_PINS_H

#include "bus.h"

/* Part of a front's registers; zero at first. */
struct spi_pins {
	bool selected;
	bool clock;
	unsigned int bits; /* the bits of the present byte that have passed */
	uint8_t taken;
	uint8_t driven;
};

/* The levels that the program drives; @selected: chip select is low. */
struct spi_levels {
	bool selected;
	bool clock;
	bool data;
};

void spi_pins_set(
	struct spi_pins *pins, struct bus *bus, uint64_t now_ns, const struct spi_levels *levels);

/* Returns the level of the part's pin; true where it drives nothing, since the pin is pulled up. */
bool spi_pins_reply(const struct spi_pins *pins);

#endif
