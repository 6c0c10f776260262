/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "range.h"

static int by_start(const void *a, const void *b)
{
	const struct range *left = a;
	const struct range *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

size_t ranges_join(struct range *ranges, size_t count)
{
	size_t kept = 0;

	qsort(ranges, count, sizeof(*ranges), by_start);
	for (size_t i = 0; i < count; i++) {
		const struct range next = ranges[i];

		if (kept == 0 || next.start > ranges[kept - 1].end)
			ranges[kept++] = next;
		else if (next.end > ranges[kept - 1].end)
			ranges[kept - 1].end = next.end;
	}
	return kept;
}
