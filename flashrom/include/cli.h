/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "log.h"
#include "realtime.h"

#define INCLUDES_MAX 64

enum operation {
	OPERATION_NONE, /* probe only */
	OPERATION_READ,
	OPERATION_WRITE,
	OPERATION_VERIFY,
	OPERATION_ERASE,
	OPERATION_LIST,
	OPERATION_HELP,
	OPERATION_VERSION,
};

/** A command line. Strings are those of argv. */
struct options {
	enum operation operation;
	const char *file;
	const char *programmer;
	const char *chip;
	const char *layout;
	const char *log_file;
	const char *includes[INCLUDES_MAX];
	size_t include_count;
	unsigned int verbosity;
	bool verify;     /* after a write or erase */
	bool verify_all; /* also what shares erase blocks with the regions */
	bool force;
	bool realtime;
};

/** 0, or -EINVAL with the cause logged. Starts over on each call. */
int options_parse(int argc, char **argv, const struct log *log, struct options *out);

/** Print the options, programmers included. */
void options_usage(const struct log *log);

/** Where a run's messages go. */
struct console {
	unsigned int verbosity;
	FILE *file; /* FILE of -o, or NULL; gets debug messages whatever the verbosity */
};

/** Messages to stdout, errors and warnings to stderr, each flushed at once. */
struct log console_log(struct console *console);

/** Begin a line that says which flashrom this is, and from which wait on it sleeps. */
void version_print(const struct log *log);

/**
 * Ask for realtime priority, and say once if that may not be: nothing depends on it. Not in a build
 * that polls long enough to shut others out. `found` is for realtime_end().
 */
void realtime_begin(const struct log *log, struct realtime *found);

/** Back to what was found. */
void realtime_end(const struct log *log, const struct realtime *found);

/** Do what the options say. 0 or -errno, cause logged. */
int run(const struct options *options, const struct log *log);

#endif
