/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A time and its grade, so that a verdict can tell a datasheet figure from an assumed one. */
#ifndef EMULATORS_MODEL_FIGURE_H
#define EMULATORS_MODEL_FIGURE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* Ordered from the strongest to the weakest. */
enum grade {
	GRADE_DATASHEET,
	GRADE_SECONDARY,
	GRADE_ASSUMED,
};

struct figure {
	uint64_t ns;
	enum grade grade;
};

/* The time for which one kind of work keeps a part busy. All zeros: the part has no such work. */
struct busy_time {
	struct figure min;
	struct figure typ;
	struct figure max;
};

static inline const char *grade_name(enum grade grade)
{
	static const char *const names[] = {
		[GRADE_DATASHEET] = "datasheet",
		[GRADE_SECONDARY] = "secondary",
		[GRADE_ASSUMED] = "assumed",
	};

	assert((size_t)grade < sizeof(names) / sizeof(names[0]));
	return names[grade];
}

/* Returns the weaker of two grades. */
static inline enum grade grade_weaker(enum grade a, enum grade b)
{
	return a > b ? a : b;
}

#endif
