/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares waits of the delay layer with plain sleeping and polling: lateness and CPU time. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "realtime.h"
#include "waits.h"

#define LENGTHS 4

/*
 * The figures of a batch of waits of one kind and length. Overshoot is how much longer than its
 * length a wait took.
 */
struct batch {
	double overshoot_ns_mean;
	double overshoot_ns_p50;
	double overshoot_ns_p99;
	double overshoot_ns_max;
	double cpu_ns; /* the mean per wait */
};

/* The medians of many batches, for each kind of wait and each length. */
struct table {
	struct batch median[LENGTHS][WAITS];
};

static const unsigned int lengths_us[LENGTHS] = {1, 10, 100, 1000};

static int compare(const void *left, const void *right)
{
	const double a = *(const double *)left;
	const double b = *(const double *)right;

	return (a > b) - (a < b);
}

static void run_batch(const struct wait *wait, unsigned int usecs, unsigned int waits,
	double *overshoots_ns, struct batch *out)
{
	const int64_t cpu_ns = bench_cpu_ns();
	double sum_ns = 0;

	for (unsigned int i = 0; i < waits; i++) {
		const int64_t start_ns = bench_now_ns();

		wait->wait(usecs);
		overshoots_ns[i] = (double)(bench_now_ns() - start_ns - (int64_t)usecs * 1000);
		sum_ns += overshoots_ns[i];
	}
	out->cpu_ns = (double)(bench_cpu_ns() - cpu_ns) / waits;
	qsort(overshoots_ns, waits, sizeof(*overshoots_ns), compare);
	out->overshoot_ns_mean = sum_ns / waits;
	out->overshoot_ns_p50 = overshoots_ns[(waits - 1) / 2];
	out->overshoot_ns_p99 = overshoots_ns[(waits - 1) * 99 / 100];
	out->overshoot_ns_max = overshoots_ns[waits - 1];
}

/*
 * After a wait that polled, the scheduler gives the next wait less CPU time. So each round begins
 * with a different kind, and every second round goes through the kinds in reverse.
 */
static void run_round(unsigned int round, unsigned int length_us, unsigned int waits,
	double *overshoots_ns, struct batch *results)
{
	const unsigned int stride = round % 2 == 0 ? 1 : WAITS - 1;

	for (unsigned int i = 0; i < WAITS; i++) {
		const unsigned int w = (round + i * stride) % WAITS;

		run_batch(&bench_waits[w], length_us, waits, overshoots_ns, &results[w]);
	}
}

/* Stores results in the order of rounds, then lengths, then kinds of waits. */
static void run_batches(
	unsigned int batches, unsigned int waits, double *overshoots_ns, struct batch *results)
{
	for (unsigned int b = 0; b < batches; b++) {
		for (unsigned int l = 0; l < LENGTHS; l++) {
			run_round(b, lengths_us[l], waits, overshoots_ns, results);
			results += WAITS;
		}
	}
}

/*
 * Returns the median of the figure at `offset` over all batches of one kind and length, of which
 * `first` is the first.
 */
static double median_of(
	const struct batch *first, unsigned int batches, size_t offset, double *column)
{
	for (unsigned int b = 0; b < batches; b++) {
		const char *batch = (const char *)(first + (size_t)b * LENGTHS * WAITS);

		column[b] = *(const double *)(const void *)(batch + offset);
	}
	qsort(column, batches, sizeof(*column), compare);
	return column[batches / 2];
}

static void fold(
	const struct batch *results, unsigned int batches, double *column, struct table *out)
{
	static const size_t offsets[] = {
		offsetof(struct batch, overshoot_ns_mean),
		offsetof(struct batch, overshoot_ns_p50),
		offsetof(struct batch, overshoot_ns_p99),
		offsetof(struct batch, overshoot_ns_max),
		offsetof(struct batch, cpu_ns),
	};
	struct batch *medians = &out->median[0][0];

	for (int i = 0; i < LENGTHS * WAITS; i++) {
		for (size_t o = 0; o < sizeof(offsets) / sizeof(offsets[0]); o++) {
			double *to = (double *)(void *)((char *)&medians[i] + offsets[o]);

			*to = median_of(&results[i], batches, offsets[o], column);
		}
	}
}

/*
 * Measures `batches` batches of `waits` waits for each kind and length. Kinds and lengths take
 * turns, so that other load of the machine affects them equally. Returns 0 or -ENOMEM.
 */
static int table_measure(unsigned int batches, unsigned int waits, struct table *out)
{
	double *overshoots_ns = calloc(waits, sizeof(*overshoots_ns));
	double *column = calloc(batches, sizeof(*column));
	struct batch *results = calloc((size_t)batches * LENGTHS * WAITS, sizeof(*results));
	int error = -ENOMEM;

	if (overshoots_ns != NULL && column != NULL && results != NULL) {
		run_batches(batches, waits, overshoots_ns, results);
		fold(results, batches, column, out);
		error = 0;
	}
	free(results);
	free(column);
	free(overshoots_ns);
	return error;
}

#define EXIT_USAGE 2
#define NS_PER_US 1000

/* Batches are short, so that other processes disturb few of them. */
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
				scheduling, lengths_us[l], bench_waits[w].name,
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

/* Prints the rows of a table. If `first` is true, no comma precedes the first row. */
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
				first ? "" : ",", scheduling, lengths_us[l], bench_waits[w].name,
				batch->overshoot_ns_mean, batch->overshoot_ns_p50,
				batch->overshoot_ns_p99, batch->overshoot_ns_max, batch->cpu_ns);
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
