/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"

#define STEP_PERCENT 10

static unsigned int percent_of(uint32_t done_bytes, uint32_t total_bytes)
{
	return (unsigned int)((uint64_t)done_bytes * 100 / total_bytes);
}

/*
 * Ends in as many backspaces as characters, so that the next text on the line, which is longer,
 * overwrites it. The line begins with the names of the two stages of a write.
 */
static void print_in_place(const struct percent *percent, enum progress_stage stage)
{
	if (stage == PROGRESS_READ)
		printf("%3u%%\b\b\b\b", percent->shown[stage]);
	else
		printf("%3u%%, %3u%%\b\b\b\b\b\b\b\b\b\b", percent->shown[PROGRESS_ERASE],
			percent->shown[PROGRESS_WRITE]);
}

static void print_steps(unsigned int from, unsigned int to, enum progress_stage stage)
{
	static const char *const names[] = {
		[PROGRESS_READ] = "",
		[PROGRESS_WRITE] = "write ",
		[PROGRESS_ERASE] = "erase ",
	};

	for (unsigned int at = from / STEP_PERCENT + 1; at <= to / STEP_PERCENT; at++)
		printf("%s%u%% ", names[stage], at * STEP_PERCENT);
}

static void show(void *sink, enum progress_stage stage, uint32_t done_bytes, uint32_t total_bytes)
{
	struct percent *percent = sink;
	const unsigned int now = percent_of(done_bytes, total_bytes);
	const unsigned int before = percent->shown[stage];

	if (done_bytes > 0 && now == before)
		return;
	percent->shown[stage] = now;
	if (percent->in_place)
		print_in_place(percent, stage);
	else
		print_steps(before, now, stage);
	fflush(stdout);
}

struct progress percent_progress(struct percent *percent)
{
	*percent = (struct percent){.in_place = isatty(STDOUT_FILENO) == 1};
	return (struct progress){.report = show, .sink = percent};
}
