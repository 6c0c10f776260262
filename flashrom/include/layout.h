/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "log.h"
#include "range.h"

struct layout_region {
	char *name;
	struct range range;
	bool included; /* the run covers it */
};

/** Named regions of a chip, in the order of the file. Start from {0}. */
struct layout {
	struct layout_region *regions;
	size_t count;
};

/**
 * Reads a layout: a line per region, `START:END NAME` in hexadecimal; END is the last address of
 * the region. Blank lines and what follows a # are skipped. `name` is the file's, for messages.
 * Returns 0, -EINVAL or -ENOMEM (logged).
 */
int layout_parse(FILE *file, const char *name, const struct log *log, struct layout *out);

/** Appends a region. If several share a name, the first is found. Returns 0 or -ENOMEM. */
int layout_add(struct layout *layout, const char *name, struct range range);

/** Returns the region of that name, or NULL. */
struct layout_region *layout_find(const struct layout *layout, const char *name);

/** Returns the region name nearest to `name`, or NULL if none is near. */
const char *layout_name_nearest(const struct layout *layout, const char *name);

/**
 * Copies the included regions, sorted and joined, into an array that the caller frees, even if
 * `count` is 0. Returns 0, or (logged) -ENOMEM, or -ERANGE if a region ends beyond a chip of
 * `size_bytes`.
 */
int layout_ranges(const struct layout *layout, uint32_t size_bytes, const struct log *log,
	struct range **ranges, size_t *count);

/** Frees the regions. */
void layout_deinit(struct layout *layout);

#endif
