/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Keeps the closest of the names it was offered, for "did you mean". Start from {.wanted = x}. */
struct nearest {
	const char *wanted;
	const char *name;
	size_t distance;
};

/** Offer one name; letter case does not count. For "A/B/C" each part is a name of its own. */
void nearest_offer(struct nearest *nearest, const char *name);

/** The closest name, or NULL if nothing came near enough to be a slip of the finger. */
const char *nearest_found(const struct nearest *nearest);

/** Whole text as a number in `base`, without sign or leftovers. */
bool text_to_u32(const char *text, int base, uint32_t *out);

/** A frequency above 0 Hz: "2000000", "2M" and "500k" alike. */
bool text_to_hz(const char *text, uint32_t *hz);

#endif
