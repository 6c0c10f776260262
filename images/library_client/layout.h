/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A layout file with one region or more: lines of `FIRST:LAST NAME`, in hexadecimal. */
#ifndef LIBRARY_CLIENT_LAYOUT_H
#define LIBRARY_CLIENT_LAYOUT_H

#include <libflashrom.h>

/*
 * Makes a layout of the file's regions in which `region` alone is included; to be given back with
 * flashrom_layout_release(). 0 or a negative errno: -EINVAL for a line that is none, -ENOENT where
 * no region has that name.
 */
int layout_read(struct flashrom_layout **layout, const char *path, const char *region);

#endif
