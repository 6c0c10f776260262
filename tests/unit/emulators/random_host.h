/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client that sends random commands, or cycles on buses of cycles, at random times to a chip that
 * a guard watches. Parts know most of the commands, so that works begin. The client reads the
 * chip's state to find works that it can wait for, suspend or resume.
 *
 * For the same part, the same draws make the same commands at the same times.
 */
#ifndef TESTS_UNIT_EMULATORS_RANDOM_HOST_H
#define TESTS_UNIT_EMULATORS_RANDOM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guard.h"
#include "model/chip.h"

#define RANDOM_HOST_COMMAND_BYTES_MAX 300

/* Random numbers from a seed: the same seed gives the same numbers. */
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

struct random_host {
	struct chip *chip;
	const struct part *part; /* the chip's part */
	struct guard *guard;
	struct draws *draws;
	uint64_t now_ns;
	uint8_t command[RANDOM_HOST_COMMAND_BYTES_MAX];
	size_t command_len;
	struct chip_facts facts;
};

/* Initialises a client. @guard watches @chip; both, and @draws, must outlive the client. */
void random_host_init(
	struct random_host *host, struct chip *chip, struct guard *guard, struct draws *draws);

/*
 * Makes one transfer, or one read or sequence of cycles, and lets time pass. The guard checks after
 * each transfer and each write cycle, but only once after several reads in a row.
 */
void random_host_step(struct random_host *host);

#endif
