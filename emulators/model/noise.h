/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bits that look like chance and are the same in each run: for draws, for bytes that a datasheet
 * calls undefined, and for what a work that was cut off leaves behind.
 */
#ifndef EMULATORS_MODEL_NOISE_H
#define EMULATORS_MODEL_NOISE_H

#include <stdint.h>

/* @place says what of, and @nth which time it is: each of the three changes every bit. */
uint64_t noise_bits(uint64_t seed, uint64_t place, uint64_t nth);

#endif
