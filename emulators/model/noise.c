/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "noise.h"

/* Spreads every bit of @x over the result (the finaliser of splitmix64). */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xBF58476D1CE4E5B9);
	x ^= x >> 27;
	x *= UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

uint64_t noise_bits(uint64_t seed, uint64_t place, uint64_t nth)
{
	return mix(mix(mix(seed + UINT64_C(0x9E3779B97F4A7C15)) ^ place) + nth);
}
