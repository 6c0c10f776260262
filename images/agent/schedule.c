// SPDX-License-Identifier: GPL-2.0-or-later
#include "schedule.h"

static uint64_t phase_ns(const struct schedule *schedule, uint64_t at_ns)
{
	return schedule->period_ns ? at_ns % schedule->period_ns : at_ns;
}

bool schedule_open(const struct schedule *schedule, uint64_t at_ns)
{
	uint64_t phase = phase_ns(schedule, at_ns);

	for (size_t i = 0; i < schedule->count; i++)
		if (schedule->window[i].from_ns <= phase && phase < schedule->window[i].to_ns)
			return true;
	return false;
}

uint64_t schedule_next_edge_ns(const struct schedule *schedule, uint64_t at_ns)
{
	uint64_t phase = phase_ns(schedule, at_ns);
	uint64_t begin_ns = at_ns - phase;

	for (size_t i = 0; i < schedule->count; i++) {
		if (phase < schedule->window[i].from_ns)
			return begin_ns + schedule->window[i].from_ns;
		if (phase < schedule->window[i].to_ns)
			return begin_ns + schedule->window[i].to_ns;
	}
	if (schedule->count == 0 || schedule->period_ns == 0)
		return SCHEDULE_NEVER_NS;
	return begin_ns + schedule->period_ns + schedule->window[0].from_ns;
}
