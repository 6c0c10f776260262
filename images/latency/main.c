// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How late waits end on this machine: takes the series that its command line asks for, one after
 * the other, and writes a JSON line for each. Each has a process of its own, so that none is
 * measured with the priority or slack that another one left behind.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit.h"
#include "eaters.h"
#include "facts.h"
#include "lines.h"
#include "scheduling.h"
#include "readings.h"
#include "series.h"
#include "ticks.h"

#define EXIT_USAGE 2

static const char usage[] =
	"rig-latency SERIES...\n"
	"  KIND:KEY=VALUE,...   facts, audit, wait, sweep, periods or ticks (series.h)\n"
	"  wait:wait=nanosleep,request_ns=100000,count=1000,fifo=1,cpu=0\n";

static int take(const struct series *series, unsigned int number)
{
	switch (series->kind) {
	case SERIES_FACTS:
		return facts_write(number, stdout);
	case SERIES_AUDIT:
		return audit_write(number, stdout);
	case SERIES_WAIT:
		return readings_of_wait(series, number, stdout);
	case SERIES_SWEEP:
		return readings_of_sweep(series, number, stdout);
	case SERIES_PERIODS:
		return readings_of_periods(series, number, stdout);
	case SERIES_TICKS:
		return ticks_write(series, number, stdout);
	}
	return -EINVAL;
}

static void write_refusal(unsigned int number, const char *refused, int error)
{
	struct json_line line;

	line_begin(&line, stdout, number);
	json_text(&line, "refused", refused);
	json_text(&line, "why", strerror(-error));
	line_end(&line);
}

/* In a process of its own. What the machine refuses is a result, too. */
static void run_here(const struct series *series, unsigned int number)
{
	struct eaters eaters;
	const char *refused = "fork()";
	int error = eaters_start(&eaters, series->eaters, series->cpu);

	if (!error)
		error = scheduling_apply(series, &refused);
	if (!error) {
		refused = "the readings";
		error = take(series, number);
	}
	if (error)
		write_refusal(number, refused, error);
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

/* All words are read before the first series starts. */
int main(int argc, char **argv)
{
	struct series *all;
	int error = 0;

	if (argc < 2) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	all = calloc((size_t)argc, sizeof(*all));
	if (!all) {
		fputs("rig-latency: no memory\n", stderr);
		return EXIT_FAILURE;
	}
	for (int i = 1; i < argc; i++) {
		char *word = strdup(argv[i]);

		if (!word || series_parse(word, &all[i - 1]) != 0) {
			fprintf(stderr, "rig-latency: makes no sense of %s\n%s", argv[i], usage);
			free(word);
			free(all);
			return EXIT_USAGE;
		}
		free(word);
	}
	for (int i = 0; i < argc - 1 && !error; i++)
		error = run(&all[i], (unsigned int)i);
	free(all);
	if (error)
		fprintf(stderr, "rig-latency: a series failed: %s\n", strerror(-error));
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
