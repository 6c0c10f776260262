/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

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
