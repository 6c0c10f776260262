/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stdio.h>

#include "log.h"

void log_emit(const struct log *log, enum log_level level, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (level > log->level_max)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log->emit(log->sink, level, text);
}
