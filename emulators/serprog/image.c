/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image.h"

#include <errno.h>
#include <string.h>

static int load_stream(struct array *array, FILE *in, uint32_t offset_bytes)
{
	uint8_t granule[ARRAY_GRANULE_BYTES];
	uint64_t at = offset_bytes;
	size_t got;

	do {
		got = fread(granule, 1, sizeof(granule), in);
		if (at + got > array->size_bytes)
			return -EFBIG;
		if (got > 0)
			array_load(array, (uint32_t)at, granule, got);
		at += got;
	} while (got == sizeof(granule));
	return ferror(in) ? -EIO : 0;
}

int image_load(struct array *array, const char *path, uint32_t offset_bytes)
{
	FILE *in = fopen(path, "re");
	int ret;

	if (!in)
		return -errno;
	ret = load_stream(array, in, offset_bytes);
	fclose(in);
	return ret;
}

int image_write(const struct array *array, FILE *out)
{
	uint8_t granule[ARRAY_GRANULE_BYTES];

	for (uint32_t at = 0; at < array->size_bytes; at += ARRAY_GRANULE_BYTES) {
		array_read(array, at, granule, sizeof(granule));
		if (fwrite(granule, sizeof(granule), 1, out) != 1)
			return -EIO;
	}
	return 0;
}

static bool all_erased(const uint8_t *granule)
{
	return granule[0] == 0xFF && memcmp(granule, granule + 1, ARRAY_GRANULE_BYTES - 1) == 0;
}

static int write_granule(const uint8_t *granule, uint64_t offset_bytes, FILE *out)
{
	uint8_t head[8];

	for (size_t i = 0; i < sizeof(head); i++)
		head[i] = (uint8_t)(offset_bytes >> 8 * i);
	if (fwrite(head, sizeof(head), 1, out) != 1 ||
		fwrite(granule, ARRAY_GRANULE_BYTES, 1, out) != 1)
		return -EIO;
	return 0;
}

int image_write_sparse(const struct array *array, FILE *out)
{
	uint8_t granule[ARRAY_GRANULE_BYTES];

	for (uint32_t at = 0; at < array->size_bytes; at += ARRAY_GRANULE_BYTES) {
		if (array_granule_is_erased(array, at))
			continue;
		array_read(array, at, granule, sizeof(granule));
		if (all_erased(granule))
			continue;
		if (write_granule(granule, at, out) < 0)
			return -EIO;
	}
	return 0;
}
