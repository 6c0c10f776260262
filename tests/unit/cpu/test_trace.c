/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "../run_cases.h"
#include "cpu_plugin/service.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static const struct vcpu_account before = {
	.settled_ns = 1000 * MS,
	.instructions = 5000,
	.active_ns = 300 * MS,
	.idle_ns = 700 * MS,
	.paced_ns = 300 * MS,
	.lost_ns = 1 * MS,
};

/*
 * Returns a vCPU 100 ms after `before`: it was idle for 20 ms, and ran at 60 MIPS for 80 ms, which
 * is @short_ns more than its instructions should have taken.
 */
static struct vcpu vcpu_after(int64_t short_ns)
{
	return (struct vcpu){
		.index = 1,
		.config = {.quantum_ns = 250 * US},
		.ramp = {.to_kips = 60000},
		.account =
			{
				.settled_ns = 1100 * MS,
				.instructions = 5000 + 60000 * 80,
				.active_ns = 380 * MS,
				.idle_ns = 720 * MS,
				.paced_ns = 380 * MS - (uint64_t)short_ns,
				.lost_ns = 1 * MS,
			},
	};
}

/* The text that a function writes. */
struct written {
	FILE *stream;
	char *text;
	size_t size;
};

static FILE *begin(struct written *written)
{
	written->stream = open_memstream(&written->text, &written->size);
	assert_non_null(written->stream);
	return written->stream;
}

static void assert_wrote(struct written *written, const char *text)
{
	fclose(written->stream);
	assert_string_equal(written->text, text);
	free(written->text);
}

TEST(start_line_has_every_vcpu)
{
	const struct trace_host host = {.target = "x86_64", .api = 4, .vcpus = 2};
	char *arguments[] = {"mips=60:240", "governor=fixed:powersave", "min_mips=50.5"};
	char error[OPTIONS_ERROR_BYTES];
	struct options options;
	struct written written;

	assert_int_equal(options_parse(3, arguments, &options, error), 0);
	trace_start(begin(&written), 77, &host, &options);
	assert_wrote(&written,
		"{\"schema\":1,\"ev\":\"start\",\"t_ns\":77,\"target\":\"x86_64\",\"api\":4,"
		"\"quantum_us\":250,\"catch_up_us\":5000,\"spin_us\":0,\"window_ms\":100,"
		"\"sampling_us\":10000,\"latency_us\":0,\"ramp_us\":0,\"vcpus\":["
		"{\"governor\":\"fixed\",\"fixed_kips\":60000,\"min_kips\":50500,"
		"\"max_kips\":60000},"
		"{\"governor\":\"powersave\",\"fixed_kips\":240000,\"min_kips\":50500,"
		"\"max_kips\":240000}]}\n");
}

TEST(change_names_its_reason_and_its_ramp)
{
	const struct speed_change change = {
		CHANGE_CONTROL, 10, {.from_kips = 1, .to_kips = 2, .begin_ns = 11, .end_ns = 15}};
	struct written written;

	trace_change(begin(&written), 3, &change);
	assert_wrote(&written,
		"{\"ev\":\"speed\",\"t_ns\":10,\"vcpu\":3,\"why\":\"control\",\"from_kips\":1,"
		"\"to_kips\":2,\"begin_ns\":11,\"end_ns\":15}\n");
}

TEST(window_has_the_given_and_the_requested_speed)
{
	const struct vcpu vcpu = vcpu_after(16 * MS);
	struct written written;

	trace_window(begin(&written), &vcpu, &before, 3);
	assert_wrote(&written,
		"{\"ev\":\"window\",\"t_ns\":1100000000,\"from_ns\":1000000000,\"vcpu\":1,"
		"\"instructions\":4800000,\"active_ns\":80000000,\"idle_ns\":20000000,"
		"\"given_kips\":60000,\"asked_kips\":75000,\"target_kips\":60000,"
		"\"short_ns\":16000000,\"lost_ns\":0,\"late_ns_max\":3,\"kept\":false}\n");
}

TEST(idle_window_has_no_speed)
{
	struct vcpu vcpu = vcpu_after(0);
	struct written written;

	vcpu.account = before;
	vcpu.account.settled_ns += 100;
	vcpu.account.idle_ns += 100;
	trace_window(begin(&written), &vcpu, &before, 0);
	assert_wrote(&written,
		"{\"ev\":\"window\",\"t_ns\":1000000100,\"from_ns\":1000000000,\"vcpu\":1,"
		"\"instructions\":0,\"active_ns\":0,\"idle_ns\":100,\"given_kips\":null,"
		"\"asked_kips\":null,\"target_kips\":60000,\"short_ns\":0,\"lost_ns\":0,"
		"\"late_ns_max\":0,\"kept\":true}\n");
}

TEST(window_of_no_length_is_not_written)
{
	struct vcpu vcpu = vcpu_after(0);
	struct written written;

	vcpu.account = before;
	trace_window(begin(&written), &vcpu, &before, 0);
	assert_wrote(&written, "");
}

TEST(window_is_kept_up_to_two_percent_and_a_quantum)
{
	const int64_t limit_ns = (int64_t)(2 * MS + 250 * US);
	const struct vcpu late = vcpu_after(limit_ns);
	const struct vcpu too_late = vcpu_after(limit_ns + 1);
	const struct vcpu ahead = vcpu_after(-limit_ns);
	const struct vcpu too_far_ahead = vcpu_after(-limit_ns - 1);

	assert_true(trace_kept(&late, &before));
	assert_false(trace_kept(&too_late, &before));
	assert_true(trace_kept(&ahead, &before));
	assert_false(trace_kept(&too_far_ahead, &before));
}

TEST(window_that_catches_up_has_a_negative_shortfall)
{
	const struct vcpu vcpu = vcpu_after(-5);
	struct written written;

	trace_window(begin(&written), &vcpu, &before, 0);
	fclose(written.stream);
	assert_non_null(strstr(written.text, "\"short_ns\":-5,\"lost_ns\":0,"));
	free(written.text);
}

TEST(end_line_counts_the_windows)
{
	const struct trace_totals totals = {7, 2, 1};
	struct written written;

	trace_end(begin(&written), 9, &totals);
	assert_wrote(&written, "{\"ev\":\"end\",\"t_ns\":9,\"windows\":7,\"windows_not_kept\":2,"
			       "\"changes_dropped\":1}\n");
}
