/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client that sends random commands, or random cycles on buses that have those, at random times
 * to a chip that a guard watches. Most commands are ones that parts know, so that works begin. It
 * reads the chip's state to see if there is a work to wait for, to suspend or to resume.
 *
 * For the same part, the same draws make the same commands at the same times.
 */
#ifndef TESTS_UNIT_EMULATORS_RANDOM_HOST_H
#define TESTS_UNIT_EMULATORS_RANDOM_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "draws.h"
#include "guard.h"
#include "model/chip.h"

#define RANDOM_HOST_COMMAND_BYTES_MAX 300

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

/*
 * Initialises a client; @guard watches @chip. The caller owns all three, and they outlive the
 * client.
 */
void random_host_init(
	struct random_host *host, struct chip *chip, struct guard *guard, struct draws *draws);

/*
 * Makes one transfer, or one read or sequence of cycles, and lets time pass. The guard sees each
 * transfer and each cycle by itself, but several reads in a row as one.
 */
void random_host_step(struct random_host *host);

#endif
