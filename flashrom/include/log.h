/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOG_H
#define LOG_H

/** The importance of a message; one more -V shows one more level. */
enum log_level {
	LOG_ERROR,
	LOG_WARNING,
	LOG_INFO,
	LOG_DEBUG,
	LOG_SPEW,
};

/**
 * The receiver of messages. The core keeps no global state, so the owner of a run passes it down.
 * `emit` gets finished text, which need not end in a newline ("Reading flash... " then "done.\n").
 * Messages above `level_max` are not formatted, so that tracing costs nothing while it is off.
 */
struct log {
	void (*emit)(void *sink, enum log_level level, const char *text);
	void *sink;
	enum log_level level_max;
};

/** Formats and emits one message, of which it cuts off what exceeds 1023 bytes. */
void log_emit(const struct log *log, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define log_error(log, ...) log_emit(log, LOG_ERROR, __VA_ARGS__)
#define log_warning(log, ...) log_emit(log, LOG_WARNING, __VA_ARGS__)
#define log_info(log, ...) log_emit(log, LOG_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_emit(log, LOG_DEBUG, __VA_ARGS__)
#define log_spew(log, ...) log_emit(log, LOG_SPEW, __VA_ARGS__)

#endif
