/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NICINTEL_H
#define NICINTEL_H

#include "programmer.h"

/** `-p nicintel`: a parallel boot ROM on a network card with an Intel 8255x controller. */
extern const struct programmer_driver nicintel_driver;

/** The size of the window through which the card shows the part. */
#define NICINTEL_WINDOW_BYTES (UINT32_C(128) << 10)

/** The registers of a card, as physical addresses. */
struct nicintel_card {
	uint64_t control;
	uint64_t flash;
};

/** The registers, mapped. */
struct nicintel_registers {
	volatile uint8_t *control;
	volatile uint8_t *flash;
	void (*unmap)(const struct nicintel_registers *registers);
};

/**
 * Finds the first such card, in order of names, below `devices` ("/sys/bus/pci/devices"). Returns 0
 * or -ENODEV, and logs nothing.
 */
int nicintel_find(const char *devices, struct nicintel_card *card);

/** Creates a programmer that owns `registers`; a failure unmaps them. Returns 0 or -ENOMEM. */
int nicintel_attach(const struct nicintel_registers *registers, struct programmer **out);

#endif
