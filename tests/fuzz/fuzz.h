/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzz target: its entry point, functions that read values from its input, and checks that abort
 * the program, so that the fuzzer saves the input.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The entry point; libFuzzer needs this name. Without libFuzzer driver.c calls it. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks a condition in every build, unlike assert(). */
#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* The rest of an input. */
struct fuzz_input {
	const uint8_t *data;
	size_t left;
};

/* Returns the next byte, or 0 at the end of the input. */
static inline uint8_t fuzz_u8(struct fuzz_input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->data++;
}

static inline uint32_t fuzz_u24(struct fuzz_input *input)
{
	uint32_t value = fuzz_u8(input);

	value = value << 8 | fuzz_u8(input);
	return value << 8 | fuzz_u8(input);
}

/* Returns the next bytes, at most *@size of them; sets *@size to their number. */
static inline const uint8_t *fuzz_bytes(struct fuzz_input *input, size_t *size)
{
	const uint8_t *data = input->data;

	if (*size > input->left)
		*size = input->left;
	input->data += *size;
	input->left -= *size;
	return data;
}

#endif
