/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A corner selects the busy times of a part: at, between or beyond the limits of its datasheet. It
 * is a value that can be copied, compared and written as text. It scales only busy times, no other
 * wait that the client owes.
 */
#ifndef EMULATORS_MODEL_CORNER_H
#define EMULATORS_MODEL_CORNER_H

#include "part.h"

#define CORNER_FACTOR_MAX 1000u
#define CORNER_TEXT_BYTES 32 /* room for any corner as text, with its end */

enum corner_kind {
	CORNER_MIN,
	CORNER_TYP,
	CORNER_MAX,
	CORNER_ZERO, /* never busy: only the round trips take time */
	CORNER_DRAW, /* between typ and max, drawn anew for every use */
	CORNER_SLOW, /* a worn part: factor x max */
};

struct corner {
	enum corner_kind kind;
	uint64_t seed;   /* for CORNER_DRAW */
	uint32_t factor; /* for CORNER_SLOW, 1 to CORNER_FACTOR_MAX */
};

/* The key of a draw. A draw depends only on the seed and on this key. */
struct corner_use {
	uint8_t opcode;
	uint32_t address;
	uint32_t count; /* the number of earlier uses, as struct uses counts them */
};

/* Parses min, typ, max, zero, draw:SEED or slow:FACTOR. Returns -EINVAL for any other text. */
int corner_parse(const char *text, struct corner *corner);

void corner_format(const struct corner *corner, char text[CORNER_TEXT_BYTES]);

/* Draws a time from 0 to less than @work_ns, at any corner. */
uint64_t corner_moment_ns(uint64_t seed, const struct corner_use *use, uint64_t work_ns);

/* Returns the busy time at this corner. @use matters for CORNER_DRAW only. */
struct figure corner_figure(
	const struct corner *corner, const struct busy_time *busy, const struct corner_use *use);

/*
 * Counts the uses of each operation at each address; the count is part of the key of a draw. There
 * is a count for each page, for each block of each erase, and for each opcode without an address. A
 * count wraps after 256 uses; then the draws repeat.
 */
struct uses {
	const struct part *part;
	uint8_t *counts;
};

size_t uses_bytes(const struct part *part);

/* @counts is all zeros, and must outlive the uses. */
void uses_init(struct uses *uses, const struct part *part, uint8_t *counts);

/* Counts a use of an opcode that erases the block with @address. */
struct corner_use uses_next_erase(struct uses *uses, uint8_t opcode, uint32_t address);

/* Counts a use of an opcode that programs the page with @address. */
struct corner_use uses_next_program(struct uses *uses, uint8_t opcode, uint32_t address);

/* Counts a use of an opcode without an address. */
struct corner_use uses_next(struct uses *uses, uint8_t opcode);

#endif
