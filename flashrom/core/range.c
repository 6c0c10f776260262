/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "range.h"

static int by_start(const void *a, const void *b)
{
	const struct range *left = a;
	const struct range *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

static struct range grown(struct range range, uint32_t block_bytes)
{
	const uint32_t past = range.end % block_bytes;

	range.start -= range.start % block_bytes;
	range.end += past == 0 ? 0 : block_bytes - past;
	return range;
}

size_t ranges_align(struct range *ranges, size_t count, uint32_t block_bytes)
{
	size_t kept = 0;

	qsort(ranges, count, sizeof(*ranges), by_start);
	for (size_t i = 0; i < count; i++) {
		const struct range next = grown(ranges[i], block_bytes);

		if (kept == 0 || next.start > ranges[kept - 1].end)
			ranges[kept++] = next;
		else if (next.end > ranges[kept - 1].end)
			ranges[kept - 1].end = next.end;
	}
	return kept;
}
