/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which call of which thread: its place on a stack. No two calls that are open at once share it,
 * but for a function and the one that it ends in by a jump.
 */
#ifndef EMULATORS_DELAYS_PLACE_H
#define EMULATORS_DELAYS_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct place {
	uint64_t space;  /* the register that says whose memory it is: a process */
	uint64_t thread; /* the register that threads keep their own variables by */
	uint64_t sp;     /* at the first instruction, and again at the return instruction */
};

static inline bool place_equal(const struct place *one, const struct place *other)
{
	return one->space == other->space && one->thread == other->thread && one->sp == other->sp;
}

#endif
