/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bits that look random and are the same in each run: for draws, for bytes that a datasheet calls
 * undefined, and for the remains of interrupted work.
 */
#ifndef EMULATORS_SHARED_NOISE_H
#define EMULATORS_SHARED_NOISE_H

#include <stdint.h>

#define NOISE_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* Spreads every bit of @x over the result (the finaliser of splitmix64). */
static inline uint64_t noise_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xBF58476D1CE4E5B9);
	x ^= x >> 27;
	x *= UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/*
 * Returns the bits for use number @nth of @place. A change of any argument can change every bit.
 */
static inline uint64_t noise_bits(uint64_t seed, uint64_t place, uint64_t nth)
{
	return noise_mix(noise_mix(noise_mix(seed + NOISE_GOLDEN) ^ place) + nth);
}

#endif
