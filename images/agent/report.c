// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"
#include "hypercall.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define KERNEL_LOG_LEVEL_WARNING 4
/* The kernel logs this, as information, if a program executes an instruction that the CPU lacks. */
#define NO_INSTRUCTION "trap invalid opcode"

/* Prints a key with its text, as JSON. */
static void print_text(struct report *report, const char *key, const char *text)
{
	fprintf(report->lines, ",\"%s\":\"", key);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(report->lines, "\\%c", c);
		else if (c < 0x20 || c > 0x7e)
			fprintf(report->lines, "\\u%04x", c);
		else
			fputc(c, report->lines);
	}
	fputc('"', report->lines);
}

/* Returns the first line of a file, without its end; an empty text if there is none. */
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
	struct utsname name;
	char line[1024];

	uname(&name);
	fprintf(report->lines, "{\"schema\":1,\"ev\":\"guest\",\"t_ns\":%" PRIu64,
		hypercall_virtual_ns());
	print_text(report, "kernel", name.release);
	print_text(report, "version", name.version);
	print_text(report, "machine", name.machine);
	fprintf(report->lines, ",\"cores\":%ld", sysconf(_SC_NPROCESSORS_ONLN));
	print_text(report, "cmdline", first_line("/proc/cmdline", line, sizeof(line)));
	print_text(report, "clocksource", first_line(CLOCKSOURCE, line, sizeof(line)));
	fputs("}\n", report->lines);
}

/* CLOCK_MONOTONIC, and the raw counter just before and just after it was read. */
struct reading {
	uint64_t before_ns;
	uint64_t monotonic_ns;
	uint64_t after_ns;
};

static struct reading read_clocks(void)
{
	struct reading reading;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* the first call loads the code into memory */
	reading.before_ns = hypercall_virtual_ns();
	clock_gettime(CLOCK_MONOTONIC, &now);
	reading.after_ns = hypercall_virtual_ns();
	reading.monotonic_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	return reading;
}

uint64_t report_timer_interrupts(FILE *interrupts)
{
	static const char row[] = "LOC:";
	char line[512];

	while (fgets(line, sizeof(line), interrupts)) {
		const char *at = line + strspn(line, " ");

		if (strncmp(at, row, sizeof(row) - 1) == 0)
			return strtoull(at + sizeof(row) - 1, NULL, 10);
	}
	return 0;
}

static uint64_t timer_interrupts_now(void)
{
	FILE *interrupts = fopen("/proc/interrupts", "re");
	uint64_t count;

	if (!interrupts)
		return 0;
	count = report_timer_interrupts(interrupts);
	fclose(interrupts);
	return count;
}

void report_clock_rate(struct report *report, uint64_t sleep_ns)
{
	struct timespec pause = {(time_t)(sleep_ns / NS_PER_S), (long)(sleep_ns % NS_PER_S)};
	uint64_t interrupts = timer_interrupts_now();
	struct reading begin = read_clocks();
	struct reading end;

	nanosleep(&pause, NULL);
	end = read_clocks();
	interrupts = timer_interrupts_now() - interrupts;
	fprintf(report->lines,
		"{\"ev\":\"clock_rate\",\"t_ns\":%" PRIu64 ",\"raw_ns_min\":%" PRIu64
		",\"raw_ns_max\":%" PRIu64 ",\"monotonic_ns\":%" PRIu64
		",\"monotonic_at_ns\":%" PRIu64 ",\"timer_interrupts\":%" PRIu64 "}\n",
		end.after_ns, end.before_ns - begin.after_ns, end.after_ns - begin.before_ns,
		end.monotonic_ns - begin.monotonic_ns, end.monotonic_ns, interrupts);
}

void report_numbers(struct report *report, const char *event, const struct report_number *numbers)
{
	fprintf(report->lines, "{\"ev\":\"%s\",\"t_ns\":%" PRIu64, event, hypercall_virtual_ns());
	for (; numbers->key; numbers++)
		fprintf(report->lines, ",\"%s\":%" PRIu64, numbers->key, numbers->value);
	fputs("}\n", report->lines);
}

void report_moment(struct report *report, const char *event, const char *key, uint64_t value)
{
	report_numbers(report, event, (const struct report_number[]){{key, value}, {NULL, 0}});
}

void report_subject_end(struct report *report, const struct subject_end *end)
{
	int status = end->wait_status;

	fprintf(report->lines,
		"{\"ev\":\"subject_end\",\"t_ns\":%" PRIu64 ",\"exit_code\":%d,\"signal\":%d"
		",\"timed_out\":%s,\"user_ns\":%" PRIu64 ",\"sys_ns\":%" PRIu64
		",\"voluntary_switches\":%ld,\"involuntary_switches\":%ld}\n",
		end->t_ns, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
		WIFSIGNALED(status) ? WTERMSIG(status) : 0, end->timed_out ? "true" : "false",
		end->user_ns, end->sys_ns, end->voluntary_switches, end->involuntary_switches);
}

static void report_kernel_message(struct report *report, long level, const char *text)
{
	fprintf(report->lines, "{\"ev\":\"kernel_message\",\"t_ns\":%" PRIu64 ",\"level\":%ld",
		hypercall_virtual_ns(), level);
	print_text(report, "text", text);
	fputs("}\n", report->lines);
}

void report_kernel_log(struct report *report)
{
	char record[4096];
	ssize_t bytes;

	while (report->kernel_log >= 0 &&
		((bytes = read(report->kernel_log, record, sizeof(record) - 1)) > 0 ||
			(bytes < 0 && errno == EPIPE))) {
		char *text;
		long level;

		if (bytes < 0) {
			/* Older messages were overwritten, and could have been warnings. */
			report_kernel_message(
				report, KERNEL_LOG_LEVEL_WARNING, "the kernel log ran over");
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
	fprintf(report->lines, "{\"ev\":\"agent_error\",\"t_ns\":%" PRIu64, hypercall_virtual_ns());
	print_text(report, "message", what);
	print_text(report, "detail", detail);
	fputs("}\n", report->lines);
}

int report_failure(struct report *report, const char *what, int error)
{
	if (error < 0)
		report_error(report, what, strerror(-error));
	return error;
}
