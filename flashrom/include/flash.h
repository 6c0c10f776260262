/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FLASH_H
#define FLASH_H

#include <stdbool.h>
#include <stdint.h>

#include "chip.h"
#include "range.h"
#include "spi25.h"

/** The parts of a chip that an operation is about; never empty. */
struct selection {
	const struct range *ranges;
	size_t count;
};

enum verify_scope {
	VERIFY_NOTHING,
	VERIFY_SELECTED, /* what was asked for */
	VERIFY_TOUCHED,  /* and what shares an erase block with it */
};

/**
 * Find the chip behind `flash` and set `flash->chip`. `name` asks for one by name, NULL takes what
 * answers; `force` believes the name even if another ID answers. 0 or -errno, cause logged.
 */
int flash_probe(
	struct spi25 *flash, const struct chip_list *const *lists, const char *name, bool force);

/* `image` is always of the whole chip; only what is selected is read or written in it. */

int flash_read(const struct spi25 *flash, struct selection selection, uint8_t *image);

/** Compares and reports the first difference: 0, -EILSEQ if there is one, or another -errno. */
int flash_verify(const struct spi25 *flash, struct selection selection, const uint8_t *image);

/**
 * Bring what is selected to what `image` says: read, erase as little as needed, program what
 * differs, verify. What shares an erase block with it is put back. `force` goes on when write
 * protection stays.
 */
int flash_write(const struct spi25 *flash, struct selection selection, const uint8_t *image,
	enum verify_scope verify, bool force);

/** A write of nothing but blank bytes. */
int flash_erase(const struct spi25 *flash, struct selection selection, enum verify_scope verify,
	bool force);

#endif
