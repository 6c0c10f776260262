/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report.h"

#include <stdio.h>

#define NS_PER_US 1000

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

void report_print(const struct report *report)
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

/* `first`: no comma comes before the next row. */
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

void report_print_json(const struct report *report)
{
	printf("{\"schema\": 1, \"batches\": %u, \"waits\": %u, \"medians\": [", report->batches,
		report->waits);
	print_json_rows("normal", &report->normal, true);
	if (report->has_fifo)
		print_json_rows("fifo", &report->fifo, false);
	printf("\n]}\n");
}
