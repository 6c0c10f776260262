/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROTECTION_H
#define PROTECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "spi25.h"

/** What the status register was before protection was lifted. */
struct protection {
	bool lifted;
	uint8_t status;
};

/**
 * Clear the block protection bits if any is set. -EPERM if they stay (with `force`, 0 and a
 * warning), or another -errno.
 */
int protection_lift(const struct spi25 *flash, bool force, struct protection *out);

/** Put the bits back. */
int protection_restore(const struct spi25 *flash, const struct protection *protection);

#endif
