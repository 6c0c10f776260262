/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares waits of the delay layer with plain sleeping and polling: lateness and CPU time. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "realtime.h"

#define EXIT_USAGE 2
#define NS_PER_US 1000

/* Batches are short, so that most of them keep the CPU from beginning to end. */
#define BATCHES 101
#define WAITS_IN_BATCH 20

static const char usage[] = "udelay-bench [--batches N] [--waits N] [--json]\n";

struct request {
	unsigned int batches;
	unsigned int waits;
	bool json;
};

/* The measurements at normal priority and, with `has_fifo`, under SCHED_FIFO. */
struct report {
	unsigned int batches;
	unsigned int waits;
	struct table normal;
	struct table fifo;
	bool has_fifo;
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

static void print_table(const char *scheduling, const struct table *table)
{
	for (unsigned int l = 0; l < LENGTHS; l++) {
		for (unsigned int w = 0; w < WAITS; w++) {
			const struct batch *batch = &table->median[l][w];

			printf("| %-6s | %4u | %-12s | %7.2f | %7.2f | %7.2f | %7.2f | %7.2f |\n",
				scheduling, bench_lengths_us[l], bench_waits[w].name,
				batch->overshoot_ns_mean / NS_PER_US,
				batch->overshoot_ns_p50 / NS_PER_US,
				batch->overshoot_ns_p99 / NS_PER_US,
				batch->overshoot_ns_max / NS_PER_US, batch->cpu_ns / NS_PER_US);
		}
	}
}

static void report_print(const struct report *report)
{
	printf("Medians of %u interleaved batches of %u waits, in us.\n\n", report->batches,
		report->waits);
	fputs("| class  |   us | wait         | late by | p50     | p99     | max     | CPU     "
	      "|\n",
		stdout);
	fputs("|--------|-----:|--------------|--------:|--------:|--------:|--------:|--------:|"
	      "\n",
		stdout);
	print_table("normal", &report->normal);
	if (report->has_fifo)
		print_table("FIFO", &report->fifo);
}

/* If `first` is true, no comma comes before the first row. */
static void print_json_rows(const char *scheduling, const struct table *table, bool first)
{
	for (unsigned int l = 0; l < LENGTHS; l++) {
		for (unsigned int w = 0; w < WAITS; w++) {
			const struct batch *batch = &table->median[l][w];

			printf("%s\n  {\"scheduling\": \"%s\", \"length_us\": %u, \"wait\": "
			       "\"%s\", "
			       "\"overshoot_ns_mean\": %.0f, \"overshoot_ns_p50\": %.0f, "
			       "\"overshoot_ns_p99\": %.0f, \"overshoot_ns_max\": %.0f, "
			       "\"cpu_ns\": %.0f}",
				first ? "" : ",", scheduling, bench_lengths_us[l],
				bench_waits[w].name, batch->overshoot_ns_mean,
				batch->overshoot_ns_p50, batch->overshoot_ns_p99,
				batch->overshoot_ns_max, batch->cpu_ns);
			first = false;
		}
	}
}

static void report_print_json(const struct report *report)
{
	printf("{\"schema\": 1, \"batches\": %u, \"waits\": %u, \"medians\": [", report->batches,
		report->waits);
	print_json_rows("normal", &report->normal, true);
	if (report->has_fifo)
		print_json_rows("fifo", &report->fifo, false);
	printf("\n]}\n");
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
