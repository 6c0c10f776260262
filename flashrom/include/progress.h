/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

enum progress_stage {
	PROGRESS_READ,
	PROGRESS_WRITE,
	PROGRESS_ERASE,
};

/**
 * The receiver of progress reports. A step begins with `done` 0 and ends, unless it fails, with
 * `done` equal to `total`; in between `done` only grows and `total` stays. Erasing and writing are
 * two steps that take turns; a step without anything to do is not reported.
 */
struct progress {
	void (*report)(
		void *sink, enum progress_stage stage, uint32_t done_bytes, uint32_t total_bytes);
	void *sink;
};

/** A step in progress. */
struct progress_step {
	const struct progress *to; /* NULL: not reported */
	enum progress_stage stage;
	uint32_t done_bytes;
	uint32_t total_bytes;
};

void progress_begin(struct progress_step *step, const struct progress *to,
	enum progress_stage stage, uint32_t total_bytes);

void progress_advance(struct progress_step *step, uint32_t bytes);

#endif
