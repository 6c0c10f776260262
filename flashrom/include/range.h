/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RANGE_H
#define RANGE_H

#include <stddef.h>
#include <stdint.h>

/** A stretch of flash memory; `end` is the first address after it. */
struct range {
	uint32_t start;
	uint32_t end;
};

static inline uint32_t range_bytes(struct range range)
{
	return range.end - range.start;
}

static inline size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/** Sorts ranges and joins those that touch or overlap. Returns the number that is left. */
size_t ranges_join(struct range *ranges, size_t count);

#endif
