/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../run_cases.h"
#include "hypercall.h"
#include "report.h"

#define STEP_NS UINT64_C(1000)

/* Returns the next of the readings that clock_shows() queued. */
uint64_t hypercall_virtual_ns(void)
{
	return mock_type(uint64_t);
}

/* A report in memory. A socket that keeps records apart replaces /dev/kmsg. */
struct bench {
	struct report report;
	int kernel;
};

static void bench_create(struct bench *bench)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
	bench->report.kernel_log = ends[0];
	bench->kernel = ends[1];
	bench->report.lines = open_memstream(&bench->report.text, &bench->report.bytes);
	assert_non_null(bench->report.lines);
}

static void bench_destroy(struct bench *bench)
{
	fclose(bench->report.lines);
	free(bench->report.text);
	close(bench->report.kernel_log);
	close(bench->kernel);
}

FIXTURE(bench, bench_create, bench_destroy);

static void clock_shows(uint64_t now_ns, unsigned int readings)
{
	for (unsigned int i = 0; i < readings; i++)
		will_return(hypercall_virtual_ns, now_ns + i * STEP_NS);
}

static void send_kernel_record(struct bench *bench, const char *record)
{
	assert_int_equal(send(bench->kernel, record, strlen(record), 0), strlen(record));
}

static void assert_text(struct bench *bench, const char *expected)
{
	assert_int_equal(fflush(bench->report.lines), 0);
	assert_string_equal(bench->report.text, expected);
}

TEST_ON(bench, special_characters_of_json_are_escaped)
{
	clock_shows(7, 1);
	report_error(&bench->report, "a \"quoted\" \\ path", "tab\tline\nbell\a");
	assert_text(bench, "{\"ev\":\"agent_error\",\"t_ns\":7,"
			   "\"message\":\"a \\u0022quoted\\u0022 \\u005c path\","
			   "\"detail\":\"tab\\u0009line\\u000abell\\u0007\"}\n");
}

TEST_ON(bench, byte_outside_ascii_is_escaped_by_its_number)
{
	clock_shows(0, 1);
	report_error(&bench->report, "\x7f\x80\xc3\xa9\xff", " ~");
	assert_text(bench, "{\"ev\":\"agent_error\",\"t_ns\":0,"
			   "\"message\":\"\\u007f\\u0080\\u00c3\\u00a9\\u00ff\","
			   "\"detail\":\" ~\"}\n");
}

TEST_ON(bench, event_has_its_time_and_the_number_of_its_key_if_it_has_one)
{
	clock_shows(INT64_MAX, 1);
	report_moment(&bench->report, "subject_start", NULL, 5);
	clock_shows(3, 1);
	report_moment(&bench->report, "siblings_running", "count", INT64_MAX);
	assert_text(bench, "{\"ev\":\"subject_start\",\"t_ns\":9223372036854775807}\n"
			   "{\"ev\":\"siblings_running\",\"t_ns\":3,"
			   "\"count\":9223372036854775807}\n");
}

TEST_ON(bench, event_with_several_numbers_keeps_their_order)
{
	const struct report_number numbers[] = {{"count", 3}, {"turns_min", 0}, {NULL, 9}};

	clock_shows(4, 1);
	report_numbers(&bench->report, "hogs_running", numbers);
	assert_text(bench, "{\"ev\":\"hogs_running\",\"t_ns\":4,\"count\":3,\"turns_min\":0}\n");
}

TEST_ON(bench, subject_that_exited_has_an_exit_code)
{
	const struct subject_end end = {.t_ns = 9,
		.wait_status = 3 << 8,
		.user_ns = 1,
		.sys_ns = 2,
		.voluntary_switches = 4,
		.involuntary_switches = 5};

	report_subject_end(&bench->report, &end);
	assert_text(bench, "{\"ev\":\"subject_end\",\"t_ns\":9,\"exit_code\":3,\"signal\":0,"
			   "\"timed_out\":false,\"user_ns\":1,\"sys_ns\":2,"
			   "\"voluntary_switches\":4,\"involuntary_switches\":5}\n");
}

TEST_ON(bench, subject_that_was_killed_at_its_deadline_has_a_signal_and_no_exit_code)
{
	const struct subject_end end = {.wait_status = SIGKILL, .timed_out = true};

	report_subject_end(&bench->report, &end);
	assert_text(bench, "{\"ev\":\"subject_end\",\"t_ns\":0,\"exit_code\":-1,\"signal\":9,"
			   "\"timed_out\":true,\"user_ns\":0,\"sys_ns\":0,"
			   "\"voluntary_switches\":0,\"involuntary_switches\":0}\n");
}

TEST_ON(bench, clock_rate_brackets_the_advance_of_the_raw_counter)
{
	static const char expected[] = "{\"ev\":\"clock_rate\",\"t_ns\":13000,\"raw_ns_min\":1000,"
				       "\"raw_ns_max\":3000,\"monotonic_ns\":";

	clock_shows(10000, 4);
	report_clock_rate(&bench->report, 0);
	fflush(bench->report.lines);
	assert_memory_equal(bench->report.text, expected, sizeof(expected) - 1);
}

TEST_ON(bench, kernel_warnings_errors_and_invalid_instructions_are_reported)
{
	send_kernel_record(bench, "4,1,10,-;clock is \"off\"\n SUBSYSTEM=x\n");
	send_kernel_record(bench, "6,2,20,-;only information\n");
	send_kernel_record(bench, "5,3,30,-;only a notice\n");
	send_kernel_record(bench, "6,5,35,-;traps: x[9] trap invalid opcode ip:1\n");
	send_kernel_record(bench, "11,4,40,-;an error of another facility\n");
	clock_shows(1000, 3);
	report_kernel_log(&bench->report);
	assert_text(bench, "{\"ev\":\"kernel_message\",\"t_ns\":1000,\"level\":4,"
			   "\"text\":\"clock is \\u0022off\\u0022\"}\n"
			   "{\"ev\":\"kernel_message\",\"t_ns\":2000,\"level\":6,"
			   "\"text\":\"traps: x[9] trap invalid opcode ip:1\"}\n"
			   "{\"ev\":\"kernel_message\",\"t_ns\":3000,\"level\":3,"
			   "\"text\":\"an error of another facility\"}\n");
}

TEST_ON(bench, kernel_record_without_a_text_is_ignored)
{
	send_kernel_record(bench, "3,1,10,-");
	report_kernel_log(&bench->report);
	assert_text(bench, "");
}

/* The kernel refuses to give a record to a reader whose buffer is too small, and skips it. */
TEST_ON(bench, longest_record_of_the_kernel_is_whole)
{
	char record[8192] = "4,1,10,-;";
	size_t begin = strlen(record);

	memset(record + begin, 'x', sizeof(record) - 1 - begin);
	record[sizeof(record) - 1] = '\0';
	send_kernel_record(bench, record);
	clock_shows(0, 1);
	report_kernel_log(&bench->report);
	fflush(bench->report.lines);
	assert_non_null(strstr(bench->report.text, record + begin));
}

TEST_ON(bench, guest_without_a_kernel_log_reports_no_message)
{
	int kernel_log = bench->report.kernel_log;

	bench->report.kernel_log = -1;
	report_kernel_log(&bench->report);
	bench->report.kernel_log = kernel_log;
	assert_text(bench, "");
}

TEST_ON(bench, guest_is_reported_in_one_line_with_the_schema_first)
{
	static const char begin[] = "{\"schema\":1,\"ev\":\"guest\",\"t_ns\":5,\"kernel\":\"";
	char *newline;

	clock_shows(5, 1);
	report_guest(&bench->report);
	fflush(bench->report.lines);
	assert_memory_equal(bench->report.text, begin, sizeof(begin) - 1);
	newline = strchr(bench->report.text, '\n');
	assert_ptr_equal(newline, bench->report.text + bench->report.bytes - 1);
	assert_int_equal(newline[-1], '}');
}
