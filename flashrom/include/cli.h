/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "log.h"

#define INCLUDES_MAX 64

enum operation {
	OPERATION_NONE, /* probe only */
	OPERATION_READ,
	OPERATION_WRITE,
	OPERATION_VERIFY,
	OPERATION_ERASE,
	OPERATION_NAME,
	OPERATION_SIZE,
	OPERATION_LIST,
	OPERATION_HELP,
	OPERATION_VERSION,
};

/** A region of the layout, and the file that holds this region alone, or NULL. */
struct include {
	const char *name;
	const char *file;
};

/** A command line. Strings are those of argv. */
struct options {
	enum operation operation;
	const char *file;      /* may be NULL if each of `includes` has one */
	const char *held_file; /* a file with the chip's content, or NULL */
	const char *programmer;
	const char *chip;
	const char *layout;
	const char *log_file;
	struct include includes[INCLUDES_MAX];
	size_t include_count;
	unsigned int verbosity;
	bool verify;     /* after a write or erase */
	bool verify_all; /* also the rest of the erase blocks in which the regions lie */
	bool force;
	bool realtime;
	bool progress;
};

/** Parses a command line. Returns 0, or -EINVAL with the cause logged. May be called again. */
int options_parse(int argc, char **argv, const struct log *log, struct options *out);

/** Prints the options and the programmers. */
void options_usage(const struct log *log);

/** The receivers of a run's messages. */
struct console {
	unsigned int verbosity;
	FILE *file; /* LOGFILE of -o, or NULL; gets debug messages whatever the verbosity */
};

/** Returns a log that writes errors and warnings to stderr and the rest to stdout, unbuffered. */
struct log console_log(struct console *console);

/**
 * Prints the version and the delay threshold. A test build (CONFIG_PAST_MISTAKE or
 * CONFIG_DELAY_TEST_PERCENT) also prints that it is one, and its fault.
 */
void version_print(const struct log *log);

/** Does what the options say. Returns 0, or -errno with the cause logged. */
int run(const struct options *options, const struct log *log);

#endif
