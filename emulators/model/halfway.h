/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an erase or a program leaves behind that a reset or a loss of power cut off: the block or
 * the page under way half done, in the same way for the same seed, and nothing else touched.
 */
#ifndef EMULATORS_MODEL_HALFWAY_H
#define EMULATORS_MODEL_HALFWAY_H

#include "array.h"

/*
 * An erase of [address, address + len) that had done @done_bytes of it: granules before that are
 * erased, those after it untouched. Of the granule in between each byte is as before, erased,
 * cleared (parts clear a block before they erase it) or on its way there.
 */
void halfway_erase(
	struct array *array, uint32_t address, uint32_t len, uint32_t done_bytes, uint64_t seed);

/*
 * A program of @data: each byte is as before, done, or on its way. @replaces: the part erases
 * first, and so may have left it erased.
 */
void halfway_program(struct array *array, uint32_t address, const uint8_t *data, uint32_t len,
	bool replaces, uint64_t seed);

#endif
