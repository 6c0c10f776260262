/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"

static void put(FILE *stream, const char *text)
{
	fputs(text, stream);
	fflush(stream);
}

/* Each -V shows one more level. The log file gets one level more than that. */
static enum log_level shown_max(const struct console *console)
{
	const enum log_level most = LOG_INFO + console->verbosity;

	return most < LOG_SPEW ? most : LOG_SPEW;
}

static enum log_level filed_max(const struct console *console)
{
	return shown_max(console) < LOG_DEBUG ? LOG_DEBUG : LOG_SPEW;
}

static void console_emit(void *sink, enum log_level level, const char *text)
{
	const struct console *console = sink;

	if (console->file != NULL && level <= filed_max(console))
		put(console->file, text);
	if (level <= shown_max(console))
		put(level <= LOG_WARNING ? stderr : stdout, text);
}

struct log console_log(struct console *console)
{
	return (struct log){
		.emit = console_emit,
		.sink = console,
		.level_max = console->file != NULL ? filed_max(console) : shown_max(console),
	};
}

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
