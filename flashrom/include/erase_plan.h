/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ERASE_PLAN_H
#define ERASE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "chip.h"
#include "range.h"

struct erase_step {
	const struct chip_erase *erase;
	struct range block;
};

/** The erases, in rising order of address. */
struct erase_plan {
	struct erase_step *steps;
	size_t count;
	uint64_t typ_us; /* the time of these erases and of all programming */
};

/**
 * Finds the erases that turn `current` into `target` (both images of the whole chip) fastest, by
 * typical times. A block that only loses bits (1 to 0) needs no erase, unless the chip is
 * `blank_only`. A larger block is erased if that and programming all of it again take no more time
 * than its smaller blocks would. Nothing outside `range` is erased; it must consist of whole blocks
 * as chip_smallest_block() returns them. Returns 0 or -ENOMEM.
 */
int erase_plan_create(const struct flash_chip *chip, struct range range, const uint8_t *current,
	const uint8_t *target, struct erase_plan *out);

/** Frees the steps. */
void erase_plan_destroy(struct erase_plan *plan);

#endif
