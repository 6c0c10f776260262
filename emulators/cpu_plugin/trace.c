/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "service.h"

#include "shared/json_line.h"
#include "shared/units.h"

#define SCHEMA 1
#define OFF_PERCENT_MAX 2
#define PERCENT 100

static const char *const reason_names[] = {
	[CHANGE_GOVERNOR] = "governor",
	[CHANGE_SCRIPT] = "script",
	[CHANGE_CONTROL] = "control",
};

static void put_vcpu(struct json_line *line, const struct options *options, unsigned int index)
{
	struct vcpu_config config;

	options_vcpu(options, index, &config);
	json_open(line, '{');
	json_text(line, "governor", governor_name(config.model));
	json_unsigned(line, "fixed_kips", config.limits.fixed_kips);
	json_unsigned(line, "min_kips", config.limits.min_kips);
	json_unsigned(line, "max_kips", config.limits.max_kips);
	json_close(line, '}');
}

void trace_start(
	FILE *out, uint64_t now_ns, const struct trace_host *host, const struct options *options)
{
	struct json_line line;

	json_begin(&line, out);
	json_unsigned(&line, "schema", SCHEMA);
	json_text(&line, "ev", "start");
	json_unsigned(&line, "t_ns", now_ns);
	json_text(&line, "target", host->target);
	json_signed(&line, "api", host->api);
	json_unsigned(&line, "quantum_us", options->quantum_us);
	json_unsigned(&line, "catch_up_us", options->catch_up_us);
	json_unsigned(&line, "spin_us", options->spin_us);
	json_unsigned(&line, "window_ms", options->window_ms);
	json_unsigned(&line, "sampling_us", options->sampling_us);
	json_unsigned(&line, "latency_us", options->latency_us);
	json_unsigned(&line, "ramp_us", options->ramp_us);
	json_key(&line, "vcpus");
	json_open(&line, '[');
	for (unsigned int i = 0; i < host->vcpus; i++)
		put_vcpu(&line, options, i);
	json_close(&line, ']');
	json_end(&line);
}

void trace_change(FILE *out, unsigned int vcpu, const struct speed_change *change)
{
	struct json_line line;

	json_event(&line, out, "speed", change->at_ns);
	json_unsigned(&line, "vcpu", vcpu);
	json_text(&line, "why", reason_names[change->reason]);
	json_unsigned(&line, "from_kips", change->ramp.from_kips);
	json_unsigned(&line, "to_kips", change->ramp.to_kips);
	json_unsigned(&line, "begin_ns", change->ramp.begin_ns);
	json_unsigned(&line, "end_ns", change->ramp.end_ns);
	json_end(&line);
}

/* Returns the active time minus the time that its instructions should have taken. */
static int64_t short_ns(const struct vcpu_account *now, const struct vcpu_account *before)
{
	uint64_t active_ns = now->active_ns - before->active_ns;
	uint64_t paced_ns = now->paced_ns - before->paced_ns;

	return (int64_t)active_ns - (int64_t)paced_ns;
}

bool trace_kept(const struct vcpu *vcpu, const struct vcpu_account *before)
{
	uint64_t span_ns = vcpu->account.settled_ns - before->settled_ns;
	uint64_t limit_ns = span_ns * OFF_PERCENT_MAX / PERCENT + vcpu->config.quantum_ns;
	int64_t off_ns = short_ns(&vcpu->account, before);

	return (uint64_t)(off_ns < 0 ? -off_ns : off_ns) <= limit_ns;
}

/* Instructions a millisecond are kips. */
static void put_speed(struct json_line *line, const char *key, uint64_t instructions, uint64_t ns)
{
	char digits[32] = "null";

	if (ns > 0)
		snprintf(digits, sizeof(digits), "%.0f",
			(double)instructions * (double)NS_PER_MS / (double)ns);
	json_key(line, key);
	json_value(line, digits);
}

void trace_window(
	FILE *out, const struct vcpu *vcpu, const struct vcpu_account *before, uint64_t late_ns_max)
{
	const struct vcpu_account *now = &vcpu->account;
	uint64_t instructions = now->instructions - before->instructions;
	uint64_t active_ns = now->active_ns - before->active_ns;
	struct json_line line;

	if (now->settled_ns == before->settled_ns)
		return;
	json_event(&line, out, "window", now->settled_ns);
	json_unsigned(&line, "from_ns", before->settled_ns);
	json_unsigned(&line, "vcpu", vcpu->index);
	json_unsigned(&line, "instructions", instructions);
	json_unsigned(&line, "active_ns", active_ns);
	json_unsigned(&line, "idle_ns", now->idle_ns - before->idle_ns);
	put_speed(&line, "given_kips", instructions, active_ns);
	put_speed(&line, "asked_kips", instructions, now->paced_ns - before->paced_ns);
	json_unsigned(&line, "target_kips", vcpu->ramp.to_kips);
	json_signed(&line, "short_ns", short_ns(now, before));
	json_unsigned(&line, "lost_ns", now->lost_ns - before->lost_ns);
	json_unsigned(&line, "late_ns_max", late_ns_max);
	json_bool(&line, "kept", trace_kept(vcpu, before));
	json_end(&line);
}

void trace_end(FILE *out, uint64_t now_ns, const struct trace_totals *totals)
{
	struct json_line line;

	json_event(&line, out, "end", now_ns);
	json_unsigned(&line, "windows", totals->windows);
	json_unsigned(&line, "windows_not_kept", totals->windows_not_kept);
	json_unsigned(&line, "changes_dropped", totals->changes_dropped);
	json_end(&line);
}
