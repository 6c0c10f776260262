/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which addresses a part's protection bits protect. */
#ifndef EMULATORS_MODEL_PROTECTION_H
#define EMULATORS_MODEL_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "part.h"

#define PROTECTION_BITS_MAX 4

/* Bits of the status register number @index; no bits: there is no such flag. */
struct part_flag {
	uint8_t index;
	uint8_t mask;
};

enum protection_kind {
	PROTECTION_NONE,
	PROTECTION_ANY,    /* any block protection bit protects all: the ranges are not known */
	PROTECTION_RANGES, /* the bits make a number, see unit_bytes */
	PROTECTION_GLOBAL, /* locks alone; a status register write sets or clears them all */
	PROTECTION_UNLOCK, /* locks alone; 98h clears them all */
};

struct part_protection {
	enum protection_kind kind;
	/* Of the first status register, the least significant first. */
	uint8_t bits[PROTECTION_BITS_MAX];
	size_t bit_count;
	uint32_t unit_bytes;      /* what the number 1 protects; each higher number twice as much */
	struct part_flag bottom;  /* counts from address 0, not from the end */
	struct part_flag sectors; /* the unit is 4 KiB, to 32 KiB; all bits set still are all */
	struct part_flag complement;
	/* Blocks that have a lock each; none: they have not. */
	struct part_region lock_regions[PART_REGIONS_MAX];
	size_t lock_region_count;
	struct part_flag locks_flag; /* they count instead of the ranges; mask 0: always */
};

/*
 * Whether any of [address, address + len) is protected by these status registers in a part of
 * @size_bytes. Locks are not in the registers: PROTECTION_GLOBAL and _UNLOCK are never seen here.
 */
bool protection_covers(const struct part_protection *protection, uint32_t size_bytes,
	const uint8_t *status, uint32_t address, uint32_t len);

#endif
