// SPDX-License-Identifier: GPL-2.0-or-later
#include "events.h"
#include "serprog/counter.h"

#include <inttypes.h>

void events_host_start(FILE *events)
{
	if (!events)
		return;
	fprintf(events, "{\"ev\":\"host_start\",\"t_ns\":%" PRIu64 "}\n", counter_read_ns());
	fflush(events);
}

void events_host_end(FILE *events, uint64_t signals, uint64_t turns)
{
	if (!events)
		return;
	fprintf(events,
		"{\"ev\":\"host_end\",\"t_ns\":%" PRIu64 ",\"signals\":%" PRIu64
		",\"turns\":%" PRIu64 "}\n",
		counter_read_ns(), signals, turns);
	fflush(events);
}
