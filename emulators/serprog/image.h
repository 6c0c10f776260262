/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a chip as files. */
#ifndef EMULATORS_SERPROG_IMAGE_H
#define EMULATORS_SERPROG_IMAGE_H

#include <stdio.h>

#include "model/array.h"

/* Reads the whole file to @offset_bytes of the array. -EFBIG if it does not fit there. */
int image_load(struct array *array, const char *path, uint32_t offset_bytes);

/* Every byte. -EIO. */
int image_write(const struct array *array, FILE *out);

/* For each 4 KiB that is not all FFh: its byte offset as a little-endian u64, then it. -EIO. */
int image_write_sparse(const struct array *array, FILE *out);

#endif
