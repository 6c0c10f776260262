/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>
#include <stddef.h>

#include "progress.h"

static void report(const struct progress_step *step)
{
	if (step->to != NULL && step->total_bytes > 0)
		step->to->report(step->to->sink, step->stage, step->done_bytes, step->total_bytes);
}

void progress_begin(struct progress_step *step, const struct progress *to,
	enum progress_stage stage, uint32_t total_bytes)
{
	*step = (struct progress_step){.to = to, .stage = stage, .total_bytes = total_bytes};
	report(step);
}

void progress_advance(struct progress_step *step, uint32_t bytes)
{
	assert(bytes <= step->total_bytes - step->done_bytes);
	step->done_bytes += bytes;
	report(step);
}
