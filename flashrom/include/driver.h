/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "chip.h"

struct flash;

/**
 * The operations of a kind of part. `flash->chip` is set. Functions return 0, or -errno with the
 * cause logged. None returns while the part is busy or in a mode in which it cannot be read.
 */
struct chip_driver {
	/** Prepare the part for the other functions, and restore its state. Both may be NULL. */
	int (*open)(struct flash *flash);
	int (*close)(struct flash *flash);

	/** Reads any range. */
	int (*read)(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes);

	/**
	 * Programs within one page (`page_bytes`). Bits only go from 1 to 0, unless the part
	 * `overwrites`.
	 */
	int (*program)(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes);

	/** Runs one of the chip's erase commands on the block at `address`. NULL: it has none. */
	int (*erase)(struct flash *flash, const struct chip_erase *erase, uint32_t address);

	/**
	 * `unprotect` clears write protection. It returns -EPERM if some stays; with `force` it
	 * warns and returns 0. `reprotect` restores `flash->protection`, also after a failed
	 * `unprotect`. Both may be NULL.
	 */
	int (*unprotect)(struct flash *flash, bool force);
	int (*reprotect)(struct flash *flash);
};

/** A way to identify a part. */
struct identify_method {
	/**
	 * Returns true if one query serves for both chips: the command addresses and waits that it
	 * needs are the same. NULL: they always are.
	 */
	bool (*same_question)(const struct flash_chip *a, const struct flash_chip *b);

	/**
	 * Reads the ID in the way of `chip` (not `flash->chip`). Returns 0 and the ID, which may be
	 * what a bus without a part shows; or -errno with the cause logged.
	 */
	int (*ask)(struct flash *flash, const struct flash_chip *chip, uint32_t *id);

	/**
	 * Completes a copy of the table's entry with what the part reports about itself. NULL: the
	 * entry is complete. Returns 0, or -errno with the cause logged.
	 */
	int (*describe)(struct flash *flash, struct flash_chip *chip);

	/** Such chips are tried only if no other chip of the lists was found. */
	bool last_resort;
};

#endif
