/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stddef.h>
#include <stdio.h>

#include "log.h"
#include "range.h"

struct layout_region {
	char *name;
	struct range range;
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

/** The region of that name, or NULL. */
const struct layout_region *layout_find(const struct layout *layout, const char *name);

/** The region name nearest to one that does not exist, or NULL. */
const char *layout_name_nearest(const struct layout *layout, const char *name);

/** Frees the regions. */
void layout_deinit(struct layout *layout);

#endif
