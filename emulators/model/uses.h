/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often each operation was used at each address: what CORNER_DRAW keys its draws by. A count is
 * kept for each page, for each block of each erase, and for each opcode that has no address. It
 * wraps after 256: from there on the draws repeat.
 */
#ifndef EMULATORS_MODEL_USES_H
#define EMULATORS_MODEL_USES_H

#include "corner.h"
#include "part.h"

struct uses {
	const struct part *part;
	uint8_t *counts;
};

/* Bytes that the counts of this part need. */
size_t uses_bytes(const struct part *part);

/* @counts is all zeros, and outlives the uses. */
void uses_init(struct uses *uses, const struct part *part, uint8_t *counts);

/* The next use of an opcode that erases: @address is inside the block. */
struct corner_use uses_next_erase(struct uses *uses, uint8_t opcode, uint32_t address);

/* Of one that programs a page: @address is inside it. */
struct corner_use uses_next_program(struct uses *uses, uint8_t opcode, uint32_t address);

/* Of one that has no address. */
struct corner_use uses_next(struct uses *uses, uint8_t opcode);

#endif
