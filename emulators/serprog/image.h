/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a chip as files. */
#ifndef EMULATORS_SERPROG_IMAGE_H
#define EMULATORS_SERPROG_IMAGE_H

#include <stdio.h>

#include "model/array.h"

/*
 * Loads the file into the array, at @offset_bytes. Returns -EFBIG if it does not fit, or another
 * negative errno.
 */
int image_load(struct array *array, const char *path, uint32_t offset_bytes);

/* Writes every byte. Returns -EIO on failure. */
int image_write(const struct array *array, FILE *out);

/*
 * Writes each 4 KiB that is not all FFh: its byte offset as a little-endian u64, then its bytes.
 * Returns -EIO on failure.
 */
int image_write_sparse(const struct array *array, FILE *out);

#endif
