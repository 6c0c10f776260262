/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of serprog-floor: as much of flashrom's as a write through a layout needs, and
 * the files that it names.
 */
#ifndef EMULATORS_FLOOR_OPTIONS_H
#define EMULATORS_FLOOR_OPTIONS_H

#include "job.h"

struct options {
	const char *target; /* HOST:PORT */
	const struct part *part;
	const char *layout_path;
	const char *region_name;
	const char *image_path;
};

/* The strings in @options are those of @argv. -EINVAL for what it does not understand. */
int options_parse(int argc, char *argv[], struct options *options);

/* Looks the region up in the layout, lines of `FIRST:LAST NAME` in hexadecimal. */
int options_read_region(const struct options *options, struct region *region);

/* The region's bytes of the image, a file of the whole part; to be freed. */
int options_read_content(
	const struct options *options, const struct region *region, uint8_t **content);

#endif
