/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace.h"

#include <inttypes.h>

#define SCHEMA 1
#define NS_PER_MS 1e6
#define OFF_PERCENT_MAX 2
#define PERCENT 100

static const char *const reason_names[] = {
	[CHANGE_GOVERNOR] = "governor",
	[CHANGE_SCRIPT] = "script",
	[CHANGE_CONTROL] = "control",
};

static void print_vcpu(FILE *out, const struct options *options, unsigned int index)
{
	struct vcpu_config config;

	options_vcpu(options, index, &config);
	fprintf(out, "%s{\"governor\":\"%s\",\"fixed_kips\":%u,\"min_kips\":%u,\"max_kips\":%u}",
		index == 0 ? "" : ",", governor_name(config.model), config.limits.fixed_kips,
		config.limits.min_kips, config.limits.max_kips);
}

void trace_start(
	FILE *out, uint64_t now_ns, const struct trace_host *host, const struct options *options)
{
	fprintf(out,
		"{\"schema\":%d,\"ev\":\"start\",\"t_ns\":%" PRIu64
		",\"target\":\"%s\",\"api\":%d,\"quantum_us\":%" PRIu64 ",\"catch_up_us\":%" PRIu64
		",\"spin_us\":%" PRIu64 ",\"window_ms\":%" PRIu64 ",\"sampling_us\":%" PRIu64
		",\"latency_us\":%" PRIu64 ",\"ramp_us\":%" PRIu64 ",\"vcpus\":[",
		SCHEMA, now_ns, host->target, host->api, options->quantum_us, options->catch_up_us,
		options->spin_us, options->window_ms, options->sampling_us, options->latency_us,
		options->ramp_us);
	for (unsigned int i = 0; i < host->vcpus; i++)
		print_vcpu(out, options, i);
	fprintf(out, "]}\n");
}

void trace_change(FILE *out, unsigned int vcpu, const struct speed_change *change)
{
	fprintf(out,
		"{\"ev\":\"speed\",\"t_ns\":%" PRIu64
		",\"vcpu\":%u,\"why\":\"%s\",\"from_kips\":%u,\"to_kips\":%u,\"begin_ns\":%" PRIu64
		",\"end_ns\":%" PRIu64 "}\n",
		change->at_ns, vcpu, reason_names[change->reason], change->ramp.from_kips,
		change->ramp.to_kips, change->ramp.begin_ns, change->ramp.end_ns);
}

/* Negative: it was given more than it should have, to catch up. */
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
static void print_speed(FILE *out, const char *key, uint64_t instructions, uint64_t ns)
{
	if (ns == 0)
		fprintf(out, ",\"%s\":null", key);
	else
		fprintf(out, ",\"%s\":%.0f", key, (double)instructions * NS_PER_MS / (double)ns);
}

void trace_window(
	FILE *out, const struct vcpu *vcpu, const struct vcpu_account *before, uint64_t late_ns_max)
{
	const struct vcpu_account *now = &vcpu->account;
	uint64_t instructions = now->instructions - before->instructions;
	uint64_t active_ns = now->active_ns - before->active_ns;

	if (now->settled_ns == before->settled_ns)
		return;
	fprintf(out,
		"{\"ev\":\"window\",\"t_ns\":%" PRIu64 ",\"from_ns\":%" PRIu64
		",\"vcpu\":%u,\"instructions\":%" PRIu64 ",\"active_ns\":%" PRIu64
		",\"idle_ns\":%" PRIu64,
		now->settled_ns, before->settled_ns, vcpu->index, instructions, active_ns,
		now->idle_ns - before->idle_ns);
	print_speed(out, "given_kips", instructions, active_ns);
	print_speed(out, "asked_kips", instructions, now->paced_ns - before->paced_ns);
	fprintf(out,
		",\"target_kips\":%u,\"short_ns\":%" PRId64 ",\"lost_ns\":%" PRIu64
		",\"late_ns_max\":%" PRIu64 ",\"kept\":%s}\n",
		vcpu->ramp.to_kips, short_ns(now, before), now->lost_ns - before->lost_ns,
		late_ns_max, trace_kept(vcpu, before) ? "true" : "false");
}

void trace_end(FILE *out, uint64_t now_ns, const struct trace_totals *totals)
{
	fprintf(out,
		"{\"ev\":\"end\",\"t_ns\":%" PRIu64 ",\"windows\":%" PRIu64
		",\"windows_not_kept\":%" PRIu64 ",\"changes_dropped\":%" PRIu64 "}\n",
		now_ns, totals->windows, totals->windows_not_kept, totals->changes_dropped);
}
