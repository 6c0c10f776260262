/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers from a seed: the same seed gives the same numbers. Only the tests include this. */
#ifndef TESTS_UNIT_EMULATORS_DRAWS_H
#define TESTS_UNIT_EMULATORS_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

struct draws {
	uint64_t state;
};

static inline struct draws draws_of(uint64_t seed)
{
	return (struct draws){.state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
}

/* Returns a number of 48 bits. */
static inline uint64_t draws_next(struct draws *draws)
{
	draws->state ^= draws->state << 13;
	draws->state ^= draws->state >> 7;
	draws->state ^= draws->state << 17;
	return draws->state * UINT64_C(0x2545F4914F6CDD1D) >> 16;
}

/* Returns a number from 0 to @limit - 1. */
static inline uint64_t draws_below(struct draws *draws, uint64_t limit)
{
	return draws_next(draws) % limit;
}

static inline bool draws_one_in(struct draws *draws, uint64_t n)
{
	return draws_below(draws, n) == 0;
}

#endif
