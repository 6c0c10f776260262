/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A time, and what it rests on: so that a verdict can tell a datasheet's word from ours.
 */
#ifndef EMULATORS_MODEL_FIGURE_H
#define EMULATORS_MODEL_FIGURE_H

#include <stdint.h>

/* Ordered from the strongest to the weakest. */
enum grade {
	GRADE_DATASHEET,
	GRADE_SECONDARY,
	GRADE_UNSURE,
	GRADE_ASSUMED,
};

struct figure {
	uint64_t ns;
	enum grade grade;
};

/* How long a part is busy with one kind of work. All zero: it has no such work. */
struct busy_time {
	struct figure min;
	struct figure typ;
	struct figure max;
};

const char *grade_name(enum grade grade);

/* The one that convinces less. */
enum grade grade_weaker(enum grade a, enum grade b);

#endif
