/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of LPC and FWH parts, 4 MiB below their array: one that locks each block, the
 * identity, and the pins for general use.
 */
#ifndef EMULATORS_MODEL_REGISTERS_H
#define EMULATORS_MODEL_REGISTERS_H

#include "cycle.h"

void registers_write(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);
uint8_t registers_read(struct chip *chip, const struct cycle *cycle, struct chip_facts *facts);

/* Whether a block that [address, address + len) touches is locked against writes. */
bool registers_forbid(const struct chip *chip, uint32_t address, uint32_t len);

#endif
