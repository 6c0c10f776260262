/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CAPTURED_LOG_H
#define CAPTURED_LOG_H

#include <stdbool.h>
#include <string.h>

#include "log.h"

/* A log that keeps its messages, as far as they fit, for tests that read them. Starts as {0}. */
struct captured_log {
	char text[8192];
	size_t bytes;
};

static inline void captured_emit(void *sink, enum log_level level, const char *text)
{
	struct captured_log *captured = sink;
	const size_t room = sizeof(captured->text) - captured->bytes - 1;
	const size_t bytes = room == 0 ? 0 : strnlen(text, room);

	(void)level;
	memcpy(captured->text + captured->bytes, text, bytes);
	captured->bytes += bytes;
}

static inline struct log captured_log(struct captured_log *captured)
{
	return (struct log){.emit = captured_emit, .sink = captured, .level_max = LOG_SPEW};
}

static inline bool logged(const struct captured_log *captured, const char *part)
{
	return strstr(captured->text, part) != NULL;
}

#endif
