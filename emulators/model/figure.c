/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "figure.h"

#include <assert.h>
#include <stddef.h>

const char *grade_name(enum grade grade)
{
	static const char *const names[] = {
		[GRADE_DATASHEET] = "datasheet",
		[GRADE_SECONDARY] = "secondary",
		[GRADE_UNSURE] = "unsure",
		[GRADE_ASSUMED] = "assumed",
	};

	assert((size_t)grade < sizeof(names) / sizeof(names[0]));
	return names[grade];
}

enum grade grade_weaker(enum grade a, enum grade b)
{
	return a > b ? a : b;
}
