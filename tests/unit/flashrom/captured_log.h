/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CAPTURED_LOG_H
#define CAPTURED_LOG_H

#include <stdbool.h>
#include <string.h>

#include "log.h"

/* Keeps what was logged, for tests that look at messages. Start from {0}. */
struct captured_log {
	char text[8192];
};

static inline void captured_emit(void *sink, enum log_level level, const char *text)
{
	struct captured_log *captured = sink;

	(void)level;
	strncat(captured->text, text, sizeof(captured->text) - strlen(captured->text) - 1);
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
