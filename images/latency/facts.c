// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock.h"
#include "readings.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#define TIMER_LIST "/proc/timer_list"

static const struct {
	const char *key;
	const char *path;
} files[] = {
	{"cmdline", "/proc/cmdline"},
	{"clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
	{"clockevent", "/sys/devices/system/clockevents/clockevent0/current_device"},
	{"nohz_full", "/sys/devices/system/cpu/nohz_full"},
	{"idle_driver", "/sys/devices/system/cpu/cpuidle/current_driver"},
};

/* Substrings of the lines to keep. The names of some fields differ between kernel versions. */
static const char *const kept[] = {"cpu:", ".resolution", ".hres_active", ".highres", ".nohz",
	"Clock Event Device", "event_handler"};

bool facts_keeps(const char *line)
{
	if (strstr(line, ".nohz") && (strstr(line, ".nohz_idle") || strstr(line, "_hand")))
		return false;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		if (strstr(line, kept[i]))
			return true;
	}
	return false;
}

static void write_file(struct json_line *line, const char *key, const char *path)
{
	char *text = NULL, *end;
	size_t capacity = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	if (getline(&text, &capacity, file) > 0) {
		end = strchr(text, '\n');
		if (end)
			*end = '\0';
		json_text(line, key, text);
	}
	free(text);
	fclose(file);
}

/* Writes the kept lines of the file, or why it cannot be read. */
static void write_timer_list(struct json_line *line)
{
	char *text = NULL, *row = NULL;
	size_t bytes = 0, capacity = 0;
	FILE *file = fopen(TIMER_LIST, "re");
	FILE *rows = file ? open_memstream(&text, &bytes) : NULL;

	if (!rows)
		json_text(line, "timer_list_error", strerror(errno));
	while (rows && getline(&row, &capacity, file) > 0) {
		if (facts_keeps(row))
			fputs(row, rows);
	}
	if (rows && fclose(rows) == 0)
		json_text(line, "timer_list", text);
	if (file)
		fclose(file);
	free(row);
	free(text);
}

/* Returns the result of clock_getres(); 0 if there is no such clock. */
static int64_t resolution_ns(clockid_t clock)
{
	struct timespec step;

	return clock_getres(clock, &step) == 0 ? step.tv_sec * NS_PER_S + step.tv_nsec : 0;
}

static void write_kernel(struct json_line *line)
{
	struct utsname name;

	if (uname(&name) < 0)
		return;
	json_text(line, "kernel", name.release);
	json_text(line, "kernel_version", name.version);
	json_text(line, "machine", name.machine);
}

static void write_cpus(struct json_line *line)
{
	int64_t usable[CPU_SETSIZE];
	size_t count = 0;
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET((size_t)cpu, &cpus))
			usable[count++] = cpu;
	}
	json_list_signed(line, "cpus", usable, count);
}

int facts_write(const struct series *series, struct json_line *line)
{
	(void)series;
	json_signed(line, "resolution_ns", resolution_ns(CLOCK_MONOTONIC));
	json_signed(line, "coarse_resolution_ns", resolution_ns(CLOCK_MONOTONIC_COARSE));
	json_signed(line, "slack_ns", prctl(PR_GET_TIMERSLACK));
	json_signed(line, "nice", getpriority(PRIO_PROCESS, 0));
	write_cpus(line);
	write_kernel(line);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		write_file(line, files[i].key, files[i].path);
	write_timer_list(line);
	return 0;
}
