/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DUMMY_H
#define DUMMY_H

#include <stdbool.h>

#include "programmer.h"

/**
 * `-p dummy:emulate=CHIP`: a part of emulators/ in this process. It enforces its busy times on the
 * clock that flashrom waits by.
 */
extern const struct programmer_driver dummy_driver;

/** The facts about a part in the table of emulators/, which the drivers do not use. */
struct dummy_part {
	const char *name;
	uint32_t size_bytes;
	uint32_t page_bytes;
};

/** Copies the facts of the n-th part. Returns false beyond the last. */
bool dummy_part_at(size_t nth, struct dummy_part *out);

struct dummy_options {
	const char *emulate; /* name of a part */
	const char *corner;  /* as serprog-emu takes it; NULL: typ */
	uint32_t spi_hz;     /* 0: transfers take no time */
	const char *image;   /* a file that holds the content between runs, or NULL */
	const char *events;  /* a file for what happened, as emulators/ describes it, or NULL */
	const char *fault; /* KIND[:US]@WHEN, several with +, as emulators/ describes it, or NULL */
	uint64_t seed;     /* the seed of faults by probability */
};

/** Creates a programmer with that part. Returns 0, -ENOMEM, or another -errno (logged). */
int dummy_create(const struct dummy_options *options, const struct clock *clock,
	const struct log *log, struct programmer **out);

/** Write and read the whole content directly, without commands. */
void dummy_content_write(struct programmer *programmer, const uint8_t *data);
void dummy_content_read(struct programmer *programmer, uint8_t *data);

/** Returns the number of commands that the part ignored, as too early or otherwise wrong. */
unsigned int dummy_violations(const struct programmer *programmer);

#endif
