/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layout files: one line `FIRST:LAST NAME` for each region, in hexadecimal. */
#ifndef LIBRARY_CLIENT_LAYOUT_H
#define LIBRARY_CLIENT_LAYOUT_H

#include <libflashrom.h>

/*
 * Makes a layout of the file's regions, in which only `region` is included. The caller must call
 * flashrom_layout_release(). Returns 0 or a negative errno; -EINVAL: a line is malformed, -ENOENT:
 * there is no such file or region.
 */
int layout_read(struct flashrom_layout **layout, const char *path, const char *region);

#endif
