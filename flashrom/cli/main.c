/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define EXIT_USAGE 2

static int open_console(
	const struct options *options, const struct log *log, struct console *console)
{
	*console = (struct console){.verbosity = options->verbosity};
	if (options->log_file == NULL)
		return 0;
	console->file = fopen(options->log_file, "w");
	if (console->file != NULL)
		return 0;
	log_error(log, "Cannot create log file %s: %s.\n", options->log_file, strerror(errno));
	return -EIO;
}

static int run_and_report(const struct options *options, const struct log *log)
{
	version_print(log);
	switch (options->operation) {
	case OPERATION_VERSION:
		return EXIT_SUCCESS;
	case OPERATION_HELP:
		options_usage(log);
		return EXIT_SUCCESS;
	default:
		return run(options, log) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
}

int main(int argc, char **argv)
{
	struct console console = {0};
	struct log log = console_log(&console);
	struct options options;
	int status;

	if (options_parse(argc, argv, &log, &options) != 0)
		return EXIT_USAGE;
	if (open_console(&options, &log, &console) != 0)
		return EXIT_FAILURE;
	log = console_log(&console);
	status = run_and_report(&options, &log);
	if (console.file != NULL)
		fclose(console.file);
	return status;
}
