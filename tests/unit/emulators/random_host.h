/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client that sends a chip random commands, or random cycles where its bus has those, at random
 * times, under the eyes of a guard. It knows what parts understand, and takes most of what it sends
 * from there, so that works begin; of the chip it looks at whether there is one to wait for, to
 * suspend or to resume.
 *
 * The same draws for the same part make the same commands at the same times.
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

/* @guard watches @chip. All three are the caller's and outlive the client. */
void random_host_init(
	struct random_host *host, struct chip *chip, struct guard *guard, struct draws *draws);

/*
 * One transfer, or one read or sequence of cycles, and the time that the client lets pass after it.
 * The guard sees each transfer and each cycle by itself, but reads in a row as one.
 */
void random_host_step(struct random_host *host);

#endif
