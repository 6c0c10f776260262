/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pieces of an ICH9's SPI controller that its two sequencers share. Only they include this.
 */
#ifndef EMULATORS_PROGRAMMERS_ICH9_H
#define EMULATORS_PROGRAMMERS_ICH9_H

#include "model/part.h"

#define ICH9_HSFS 0x04
#define ICH9_HSFC_LOW 0x06
#define ICH9_HSFC_HIGH 0x07
#define ICH9_FDOC 0xB0
#define ICH9_FDOC_END 0xB4

/* One cycle on the SPI bus. */
struct ich9_cycle {
	bool has_prefix;
	uint8_t prefix;
	uint8_t opcode;
	bool has_address;
	bool writes; /* else its data comes from the part */
	bool polls;  /* it ends when the part is ready */
	size_t data_bytes;
};

/* Fills in the cycle that the registers request. Returns false if the operation is reserved. */
bool ich9_hardware_cycle(
	const struct part *part, const uint8_t *registers, struct ich9_cycle *cycle);

/* Returns the bits of the register byte at @at that no program can change. */
uint8_t ich9_hardware_fact(const struct part *part, const uint8_t *registers, uint64_t at);

#endif
