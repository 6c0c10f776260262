// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock.h"
#include "readings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INTERRUPTS "/proc/interrupts"

/* Returns the column of that CPU, or -1: only CPUs that are online have a column. */
static int column_of(const char *header, int64_t cpu)
{
	int column = 0;

	for (const char *at = strstr(header, "CPU"); at; at = strstr(at + 1, "CPU")) {
		if (strtoll(at + strlen("CPU"), NULL, 10) == cpu)
			return column;
		column++;
	}
	return -1;
}

static bool is_of_timer(const char *row)
{
	row += strspn(row, " ");
	return strncmp(row, "LOC:", strlen("LOC:")) == 0 || strstr(row, "arch_timer") != NULL;
}

static int64_t number_in(const char *row, int column)
{
	const char *at = strchr(row, ':');
	int64_t value = -1;

	for (int i = 0; at && i <= column; i++) {
		char *end;

		value = strtoll(at + 1, &end, 10);
		if (end == at + 1)
			return -1;
		at = end - 1 + (*end == ' ');
	}
	return at ? value : -1;
}

int64_t ticks_count(FILE *interrupts, int64_t cpu)
{
	char *row = NULL;
	size_t capacity = 0;
	int64_t count = -1;
	int column = -1;

	if (getline(&row, &capacity, interrupts) > 0)
		column = column_of(row, cpu);
	while (column >= 0 && count < 0 && getline(&row, &capacity, interrupts) > 0) {
		if (is_of_timer(row))
			count = number_in(row, column);
	}
	free(row);
	return count;
}

int64_t ticks_now(int64_t cpu)
{
	FILE *file = fopen(INTERRUPTS, "re");
	int64_t count;

	if (!file)
		return -1;
	count = ticks_count(file, cpu);
	fclose(file);
	return count;
}

static void compute(int64_t ns)
{
	const int64_t until_ns = clock_now_ns() + ns;

	while (clock_now_ns() < until_ns)
		;
}

int ticks_write(const struct series *series, struct json_line *line)
{
	const struct timespec length = clock_timespec(series->request_ns);
	int64_t begin, between, end;

	begin = ticks_now(series->cpu);
	nanosleep(&length, NULL);
	between = ticks_now(series->cpu);
	compute(series->request_ns);
	end = ticks_now(series->cpu);
	if (begin < 0 || between < 0 || end < 0)
		return -ENOENT;
	json_signed(line, "idle_interrupts", between - begin);
	json_signed(line, "busy_interrupts", end - between);
	return 0;
}
