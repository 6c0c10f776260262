/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NICINTEL_H
#define NICINTEL_H

#include "programmer.h"

/** `-p nicintel`: a parallel boot ROM on a network card with a controller of Intel's 8255x. */
extern const struct programmer_driver nicintel_driver;

/** The size of the part that the card shows. */
#define NICINTEL_WINDOW_BYTES (UINT32_C(128) << 10)

/** The registers of a card, as physical addresses. */
struct nicintel_card {
	uint64_t control;
	uint64_t flash;
};

/** The same, mapped. */
struct nicintel_registers {
	volatile uint8_t *control;
	volatile uint8_t *flash;
	void (*unmap)(struct nicintel_registers *registers);
};

/**
 * The first such card below `devices` ("/sys/bus/pci/devices"), by the order of names. -ENODEV
 * without one. Nothing is logged.
 */
int nicintel_find(const char *devices, struct nicintel_card *card);

/** Speak to the part; the registers are unmapped in the end, also on error. 0 or -ENOMEM. */
int nicintel_attach(const struct nicintel_registers *registers, struct programmer **out);

#endif
