/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where between its shortest and its longest busy times a part runs. A value: to copy, to compare
 * and to write as text. It scales busy times only, never a wait that the client owes.
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
	CORNER_ZERO, /* never busy: what is left is the round trips */
	CORNER_DRAW, /* between typ and max, drawn anew for every use */
	CORNER_SLOW, /* a worn part: factor x max */
};

struct corner {
	enum corner_kind kind;
	uint64_t seed;   /* for CORNER_DRAW */
	uint32_t factor; /* for CORNER_SLOW, 1 to CORNER_FACTOR_MAX */
};

/* A draw depends only on this: another use elsewhere shifts nothing here. */
struct corner_use {
	uint8_t opcode;
	uint32_t address;
	uint32_t count; /* the number of earlier uses of that opcode at that address */
};

/* Parses min, typ, max, zero, draw:SEED and slow:FACTOR. -EINVAL for any other text. */
int corner_parse(const char *text, struct corner *corner);

void corner_format(const struct corner *corner, char text[CORNER_TEXT_BYTES]);

/* Draws a moment of a busy time of @work_ns, at any corner: from 0 to before its end. */
uint64_t corner_moment_ns(uint64_t seed, const struct corner_use *use, uint64_t work_ns);

/* The busy time in force. @use counts for CORNER_DRAW only. */
struct figure corner_figure(
	const struct corner *corner, const struct busy_time *busy, const struct corner_use *use);

/*
 * The number of uses of each operation at each address, by which draws are keyed. There is a count
 * for each page, for each block of each erase, and for each opcode without an address. It wraps
 * after 256: from there on the draws repeat.
 */
struct uses {
	const struct part *part;
	uint8_t *counts;
};

size_t uses_bytes(const struct part *part);

/* @counts is all zeros, and outlives the uses. */
void uses_init(struct uses *uses, const struct part *part, uint8_t *counts);

/* The next use of an opcode that erases: @address is inside the block. */
struct corner_use uses_next_erase(struct uses *uses, uint8_t opcode, uint32_t address);

/* For an opcode that programs a page: @address is inside it. */
struct corner_use uses_next_program(struct uses *uses, uint8_t opcode, uint32_t address);

/* For an opcode without an address. */
struct corner_use uses_next(struct uses *uses, uint8_t opcode);

#endif
