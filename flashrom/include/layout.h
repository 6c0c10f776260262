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
	bool included; /* is what a run is about */
};

/** Named regions of a chip, in the order of the file. Start from {0}. */
struct layout {
	struct layout_region *regions;
	size_t count;
};

/**
 * Read a layout: a line per region, `START:END NAME` in hexadecimal, END being the last address of
 * the region. Blank lines and what follows a # are skipped. `name` is the file's, for messages.
 * 0, or -EINVAL or -ENOMEM with the cause logged.
 */
int layout_parse(FILE *file, const char *name, const struct log *log, struct layout *out);

/** Append a region; several may have one name, of which the first is found. 0 or -ENOMEM. */
int layout_add(struct layout *layout, const char *name, struct range range);

/** The region of that name, or NULL. */
struct layout_region *layout_find(const struct layout *layout, const char *name);

/** The region name nearest to one that does not exist, or NULL. */
const char *layout_name_nearest(const struct layout *layout, const char *name);

/**
 * The included regions as an array to be freed, which is there also without any. 0, -ENOMEM, or
 * -ERANGE (logged) where one ends beyond a chip of `size_bytes`.
 */
int layout_ranges(const struct layout *layout, uint32_t size_bytes, const struct log *log,
	struct range **ranges, size_t *count);

/** Frees the regions. */
void layout_deinit(struct layout *layout);

#endif
