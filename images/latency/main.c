// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures how late waits end on this machine. It runs the series of its command line one after the
 * other, and writes a JSON line for each. Each series has its own process, so that it does not
 * inherit the priority or timer slack of the previous one.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "readings.h"

#define SCHEMA 1
#define EXIT_USAGE 2

static const char usage[] =
	"rig-latency SERIES...\n"
	"  KIND:KEY=VALUE,...   facts, audit, wait, sweep, periods or ticks (series.h)\n"
	"  wait:wait=nanosleep,request_ns=100000,count=1000,fifo=1,cpu=0\n";

static int (*const take[])(const struct series *series, struct json_line *line) = {
	[SERIES_FACTS] = facts_write,
	[SERIES_AUDIT] = audit_write,
	[SERIES_WAIT] = readings_of_wait,
	[SERIES_SWEEP] = readings_of_sweep,
	[SERIES_PERIODS] = readings_of_periods,
	[SERIES_TICKS] = ticks_write,
};

/* Runs a series in this process and writes its line, which names a call that failed. */
static void run_here(const struct series *series, unsigned int number)
{
	struct eaters eaters;
	struct json_line line;
	const char *refused = "fork()";
	int error = eaters_start(&eaters, series->eaters, series->cpu);

	json_begin(&line, stdout);
	json_unsigned(&line, "schema", SCHEMA);
	json_unsigned(&line, "series", number);
	if (!error)
		error = scheduling_apply(series, &refused);
	if (!error) {
		refused = "the readings";
		error = take[series->kind](series, &line);
	}
	if (error) {
		json_text(&line, "refused", refused);
		json_text(&line, "why", strerror(-error));
	}
	json_end(&line);
	fflush(stdout);
	eaters_end(&eaters);
}

static int run(const struct series *series, unsigned int number)
{
	const pid_t parent = getpid();
	const pid_t child = fork();
	int status;

	if (child < 0)
		return -errno;
	if (child == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(1);
		run_here(series, number);
		_exit(ferror(stdout) ? 1 : 0);
	}
	if (waitpid(child, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

int main(int argc, char **argv)
{
	struct series series;
	int error = 0;

	if (argc < 2) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	/* Check all series before the first one starts. */
	for (int i = 1; i < argc; i++) {
		if (series_parse(argv[i], &series) != 0) {
			fprintf(stderr, "rig-latency: cannot parse %s\n%s", argv[i], usage);
			return EXIT_USAGE;
		}
	}
	for (int i = 1; i < argc && !error; i++) {
		error = series_parse(argv[i], &series);
		if (!error)
			error = run(&series, (unsigned int)i - 1);
	}
	if (error)
		fprintf(stderr, "rig-latency: a series failed: %s\n", strerror(-error));
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
