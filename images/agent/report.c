// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"
#include "hypercall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../latency/readings.h"
#include "shared/json_line.h"
#include "shared/timespec.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define KERNEL_LOG_LEVEL_WARNING 4
#define KERNEL_RECORD_BYTES 8192 /* CONSOLE_EXT_LOG_MAX of Linux 6.1 */
/* The kernel logs this at level `info` if a program executes an instruction that the CPU lacks. */
#define NO_INSTRUCTION "trap invalid opcode"

/* Reads the first line of a file into `line`, without the newline; empty if there is none. */
static const char *first_line(const char *path, char *line, size_t bytes)
{
	FILE *from = fopen(path, "re");
	char *end = from && fgets(line, (int)bytes, from) ? strchr(line, '\n') : line;

	if (end)
		*end = '\0';
	if (from)
		fclose(from);
	return line;
}

int report_open(struct report *report)
{
	*report = (struct report){.kernel_log = -1};
	report->lines = open_memstream(&report->text, &report->bytes);
	if (!report->lines)
		return -errno;
	report->kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (report->kernel_log >= 0)
		lseek(report->kernel_log, 0, SEEK_END);
	return 0;
}

void report_guest(struct report *report)
{
	struct json_line line;
	struct utsname name;
	char text[1024];

	uname(&name);
	json_begin(&line, report->lines);
	json_unsigned(&line, "schema", 1);
	json_text(&line, "ev", "guest");
	json_unsigned(&line, "t_ns", hypercall_virtual_ns());
	json_text(&line, "kernel", name.release);
	json_text(&line, "version", name.version);
	json_text(&line, "machine", name.machine);
	json_signed(&line, "cores", sysconf(_SC_NPROCESSORS_ONLN));
	json_text(&line, "cmdline", first_line("/proc/cmdline", text, sizeof(text)));
	json_text(&line, "clocksource", first_line(CLOCKSOURCE, text, sizeof(text)));
	json_end(&line);
}

/* A reading of CLOCK_MONOTONIC, and of the agent's clock just before and just after it. */
struct reading {
	uint64_t before_ns;
	uint64_t monotonic_ns;
	uint64_t after_ns;
};

static struct reading read_clocks(void)
{
	struct reading reading;

	(void)monotonic_ns(); /* the first call loads the code into memory */
	reading.before_ns = hypercall_virtual_ns();
	reading.monotonic_ns = monotonic_ns();
	reading.after_ns = hypercall_virtual_ns();
	return reading;
}

void report_clock_rate(struct report *report, uint64_t sleep_ns)
{
	const struct timespec pause = timespec_of(sleep_ns);
	int64_t interrupts = ticks_now(0);
	struct reading begin = read_clocks();
	struct json_line line;
	struct reading end;

	nanosleep(&pause, NULL);
	end = read_clocks();
	interrupts = ticks_now(0) - interrupts;
	json_event(&line, report->lines, "clock_rate", end.after_ns);
	json_unsigned(&line, "raw_ns_min", end.before_ns - begin.after_ns);
	json_unsigned(&line, "raw_ns_max", end.after_ns - begin.before_ns);
	json_unsigned(&line, "monotonic_ns", end.monotonic_ns - begin.monotonic_ns);
	json_unsigned(&line, "monotonic_at_ns", end.monotonic_ns);
	json_signed(&line, "timer_interrupts", interrupts);
	json_end(&line);
}

void report_numbers(struct report *report, const char *event, const struct report_number *numbers)
{
	struct json_line line;

	json_event(&line, report->lines, event, hypercall_virtual_ns());
	for (; numbers->key; numbers++)
		json_unsigned(&line, numbers->key, numbers->value);
	json_end(&line);
}

void report_moment(struct report *report, const char *event, const char *key, uint64_t value)
{
	report_numbers(report, event, (const struct report_number[]){{key, value}, {NULL, 0}});
}

void report_subject_end(struct report *report, const struct subject_end *end)
{
	int status = end->wait_status;
	struct json_line line;

	json_event(&line, report->lines, "subject_end", end->t_ns);
	json_signed(&line, "exit_code", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	json_signed(&line, "signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	json_bool(&line, "timed_out", end->timed_out);
	json_unsigned(&line, "user_ns", end->user_ns);
	json_unsigned(&line, "sys_ns", end->sys_ns);
	json_signed(&line, "voluntary_switches", end->voluntary_switches);
	json_signed(&line, "involuntary_switches", end->involuntary_switches);
	json_end(&line);
}

static void report_kernel_message(struct report *report, long level, const char *text)
{
	struct json_line line;

	json_event(&line, report->lines, "kernel_message", hypercall_virtual_ns());
	json_signed(&line, "level", level);
	json_text(&line, "text", text);
	json_end(&line);
}

void report_kernel_log(struct report *report)
{
	char record[KERNEL_RECORD_BYTES];
	ssize_t bytes;

	while (report->kernel_log >= 0 &&
		((bytes = read(report->kernel_log, record, sizeof(record) - 1)) > 0 ||
			(bytes < 0 && errno == EPIPE))) {
		char *text;
		long level;

		if (bytes < 0) {
			/* Messages were overwritten before they were read; some may have been
			 * warnings. */
			report_kernel_message(
				report, KERNEL_LOG_LEVEL_WARNING, "the kernel log overflowed");
			continue;
		}
		record[bytes] = '\0';
		level = strtol(record, NULL, 10) & 7;
		text = strchr(record, ';');
		if (!text || (level > KERNEL_LOG_LEVEL_WARNING && !strstr(text, NO_INSTRUCTION)))
			continue;
		text[strcspn(text, "\n")] = '\0';
		report_kernel_message(report, level, text + 1);
	}
}

void report_error(struct report *report, const char *what, const char *detail)
{
	struct json_line line;

	json_event(&line, report->lines, "agent_error", hypercall_virtual_ns());
	json_text(&line, "message", what);
	json_text(&line, "detail", detail);
	json_end(&line);
}

int report_failure(struct report *report, const char *what, int error)
{
	if (error < 0)
		report_error(report, what, strerror(-error));
	return error;
}
