/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory cells of a part, in granules of 4 KiB that are either erased or hold bytes.
 *
 * The bytes of an erased granule are neither read nor written: erasing 16 MiB, or starting with
 * them erased, only sets bits in a map of 512 bytes. A slow guest has no time to write megabytes.
 */
#ifndef EMULATORS_MODEL_ARRAY_H
#define EMULATORS_MODEL_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_GRANULE_BYTES 4096u

struct array {
	uint8_t *bytes;  /* stale where the granule is erased */
	uint8_t *erased; /* one bit a granule */
	uint32_t size_bytes;
};

size_t array_map_bytes(uint32_t size_bytes);

/* @bytes and @map belong to the caller and must outlive the array. All granules begin erased. */
void array_init(struct array *array, uint32_t size_bytes, uint8_t *bytes, uint8_t *map);

bool array_granule_is_erased(const struct array *array, uint32_t address);

/* Copies out @len bytes. Past the end it continues at 0, as the parts do. */
void array_read(const struct array *array, uint32_t address, uint8_t *out, size_t len);

/* Clears the bits that are clear in @data. [address, address + len) must lie inside the array. */
void array_program(struct array *array, uint32_t address, const uint8_t *data, size_t len);

/* Replaces the content. For images, and for parts that erase before they program. */
void array_load(struct array *array, uint32_t address, const uint8_t *data, size_t len);

/* Erases [address, address + len) inside the array. A whole granule only sets its bit. */
void array_erase(struct array *array, uint32_t address, uint32_t len);

/*
 * Leaves the state of an erase or a program that a reset or a loss of power interrupted: the block
 * or page is half done, in the same way for the same seed, and nothing else is touched.
 *
 * An erase of [address, address + len) was interrupted after @done_bytes. The granules before that
 * point are erased, those after it untouched. Each byte of the granule at that point is as before,
 * erased, all zeros (parts clear a block before they erase it), or has some of its bits cleared.
 */
void halfway_erase(
	struct array *array, uint32_t address, uint32_t len, uint32_t done_bytes, uint64_t seed);

/*
 * Does the same for a program of @data. Each byte is as before, programmed, or has some of its bits
 * programmed. With @replaces the part erases first, so that a byte may also be erased.
 */
void halfway_program(struct array *array, uint32_t address, const uint8_t *data, uint32_t len,
	bool replaces, uint64_t seed);

#endif
