/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares waits of the delay layer with plain sleeping and polling: lateness and CPU time. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "realtime.h"
#include "report.h"

#define EXIT_USAGE 2

/* Short batches, so that most of them keep the CPU from begin to end. */
#define BATCHES 101
#define WAITS_IN_BATCH 20

static const char usage[] = "udelay-bench [--batches N] [--waits N] [--json]\n";

struct request {
	unsigned int batches;
	unsigned int waits;
	bool json;
};

static bool parse_count(const char *text, unsigned int *out)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (*end != '\0' || value == 0 || value > 100000)
		return false;
	*out = (unsigned int)value;
	return true;
}

static bool parse(int argc, char **argv, struct request *out)
{
	static const struct option names[] = {
		{"batches", required_argument, NULL, 'b'},
		{"waits", required_argument, NULL, 'w'},
		{"json", no_argument, NULL, 'j'},
		{0},
	};
	bool good = true;
	int name;

	while (good && (name = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (name == 'j')
			out->json = true;
		else if (name == 'b')
			good = parse_count(optarg, &out->batches);
		else
			good = name == 'w' && parse_count(optarg, &out->waits);
	}
	return good && optind == argc;
}

/* Measures under SCHED_FIFO, or warns and leaves that part out if it is not allowed. */
static int measure_fifo(struct report *report)
{
	struct realtime found;
	int error = realtime_acquire(&found);

	if (error != 0) {
		fprintf(stderr, "No SCHED_FIFO: %s.\n", strerror(-error));
		return 0;
	}
	error = table_measure(report->batches, report->waits, &report->fifo);
	report->has_fifo = error == 0;
	realtime_restore(&found);
	return error;
}

int main(int argc, char **argv)
{
	struct request request = {.batches = BATCHES, .waits = WAITS_IN_BATCH};
	struct report report;
	int error;

	if (!parse(argc, argv, &request)) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	report = (struct report){.batches = request.batches, .waits = request.waits};
	error = table_measure(report.batches, report.waits, &report.normal);
	if (error == 0)
		error = measure_fifo(&report);
	if (error != 0) {
		fprintf(stderr, "Not enough memory.\n");
		return EXIT_FAILURE;
	}
	if (request.json)
		report_print_json(&report);
	else
		report_print(&report);
	return EXIT_SUCCESS;
}
