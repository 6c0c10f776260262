/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DUMMY_H
#define DUMMY_H

#include <stdbool.h>

#include "programmer.h"

/**
 * `-p dummy:emulate=CHIP`: a part of emulators/ in this process, which enforces its busy times on
 * the clock that the flashrom around it waits by.
 */
extern const struct programmer_driver dummy_driver;

/** The facts about a part from emulators/, of which the drivers know nothing. */
struct dummy_part {
	const char *name;
	uint32_t size_bytes;
	uint32_t page_bytes;
};

/** The n-th part there is; false beyond the last. */
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

/** A programmer with that part on it. 0 or -errno, cause logged. */
int dummy_create(const struct dummy_options *options, const struct clock *clock,
	const struct log *log, struct programmer **out);

/** All of the part's content, from outside. */
void dummy_content_write(struct programmer *programmer, const uint8_t *data);
void dummy_content_read(struct programmer *programmer, uint8_t *data);

/** Commands so far that the part did not obey, for coming too early or being wrong at any time. */
unsigned int dummy_violations(const struct programmer *programmer);

#endif
