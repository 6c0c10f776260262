/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "chip.h"

struct flash;

/**
 * How a kind of part is spoken to. `flash->chip` is set throughout. Functions return 0, or a
 * negative errno after having logged the cause; those that may be missing are marked. None returns
 * while the part is busy or in a mode that a read would not expect.
 */
struct chip_driver {
	/** Bring the part into the state that the others need, and back. Both may be NULL. */
	int (*open)(struct flash *flash);
	int (*close)(struct flash *flash);

	/** Read any stretch. */
	int (*read)(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes);

	/**
	 * Program within one page (`page_bytes`). Bits only go from 1 to 0, unless the part
	 * `overwrites`.
	 */
	int (*program)(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes);

	/** Run one of the chip's erase commands on the block at `address`. NULL: there are none. */
	int (*erase)(struct flash *flash, const struct chip_erase *erase, uint32_t address);

	/**
	 * Clear write protection, -EPERM if some stays (0 and a warning with `force`), and restore
	 * what it was from `flash->protection`, also after the former failed halfway. Both may be
	 * NULL.
	 */
	int (*unprotect)(struct flash *flash, bool force);
	int (*reprotect)(struct flash *flash);
};

/** A way to ask a part what it is. */
struct identify_method {
	/**
	 * Returns true if one answer serves for both. It may depend on the facts needed for the
	 * query: command addresses, waits. NULL: always.
	 */
	bool (*same_question)(const struct flash_chip *a, const struct flash_chip *b);

	/**
	 * Ask as `chip` (not `flash->chip`) wants to be asked. 0 and the answer, which may be what
	 * a bus without a part shows; or a negative errno, cause logged.
	 */
	int (*ask)(struct flash *flash, const struct flash_chip *chip, uint32_t *id);

	/**
	 * Complete a copy of the table's entry with what the part says of itself. NULL: the table
	 * says it all. 0 or -errno, cause logged.
	 */
	int (*describe)(struct flash *flash, struct flash_chip *chip);

	/** Chips that are found like this count only where no other chip of the lists is found. */
	bool last_resort;
};

#endif
