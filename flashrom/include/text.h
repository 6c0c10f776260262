/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The closest of the names offered, for "did you mean". Starts as {.wanted = x}. */
struct nearest {
	const char *wanted;
	const char *name;
	size_t distance;
};

/** Offers one name, ignoring case. "A/B/C" also matches by A, B or C alone. */
void nearest_offer(struct nearest *nearest, const char *name);

/** Returns the closest name, or NULL if none is close enough to be a typing error. */
const char *nearest_found(const struct nearest *nearest);

/** Converts a number in `base`. Returns false for a sign, other characters or an overflow. */
bool text_to_u32(const char *text, int base, uint32_t *out);

/** Converts a frequency: "2000000", "2M", "500k". Returns false for any other text, and for 0. */
bool text_to_hz(const char *text, uint32_t *hz);

#endif
