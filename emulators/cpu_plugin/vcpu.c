/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vcpu.h"

#include <string.h>

/* About a third of a millisecond on a fast host: often enough for governors to see the load. */
#define UNTHROTTLED_QUANTUM 200000u

static bool is_throttled(const struct vcpu *vcpu)
{
	return vcpu->speed_kips != SPEED_UNTHROTTLED;
}

void vcpu_init(struct vcpu *vcpu, unsigned int index, const struct vcpu_config *config,
	const struct script *script, uint64_t now_ns)
{
	memset(vcpu, 0, sizeof(*vcpu));
	vcpu->index = index;
	vcpu->config = *config;
	vcpu->script = script;
	vcpu->start_ns = now_ns;
	vcpu->account.settled_ns = now_ns;
	vcpu->idle = true;
	governor_init(&vcpu->governor, config->model, &config->limits, now_ns);
	ramp_hold(&vcpu->ramp, vcpu->governor.wanted_kips);
	vcpu->speed_kips = vcpu->governor.wanted_kips;
	pacer_init(&vcpu->pacer, now_ns, config->catch_up_ns, config->quantum_ns);
}

static void note_change(struct vcpu *vcpu, uint64_t at_ns, enum change_reason reason)
{
	struct speed_change *change = &vcpu->changes[vcpu->change_count];

	if (vcpu->change_count == VCPU_CHANGES_KEPT) {
		vcpu->changes_dropped++;
		return;
	}
	change->reason = reason;
	change->at_ns = at_ns;
	change->ramp = vcpu->ramp;
	vcpu->change_count++;
}

static void follow_governor(struct vcpu *vcpu, uint64_t now_ns)
{
	uint32_t speed_kips = is_throttled(vcpu) ? vcpu->speed_kips : vcpu->config.limits.max_kips;
	uint64_t at_ns;

	while (governor_watch(&vcpu->governor, now_ns, !vcpu->idle, speed_kips, &at_ns)) {
		if (vcpu->overridden)
			continue;
		ramp_start(&vcpu->ramp, at_ns, vcpu->governor.wanted_kips, vcpu->config.latency_ns,
			vcpu->config.ramp_ns);
		note_change(vcpu, at_ns, CHANGE_GOVERNOR);
	}
}

static void obey(
	struct vcpu *vcpu, uint64_t at_ns, const struct command *command, enum change_reason reason)
{
	uint32_t to_kips =
		command->back_to_governor ? vcpu->governor.wanted_kips : command->speed_kips;
	uint64_t ramp_ns = command->has_ramp ? command->ramp_ns : vcpu->config.ramp_ns;

	vcpu->overridden = !command->back_to_governor;
	ramp_start(&vcpu->ramp, at_ns, to_kips, vcpu->config.latency_ns, ramp_ns);
	note_change(vcpu, at_ns, reason);
}

static void follow_script(struct vcpu *vcpu, uint64_t now_ns)
{
	const struct script *script = vcpu->script;

	while (vcpu->script_next < script->count) {
		const struct script_step *step = &script->steps[vcpu->script_next];

		if (vcpu->start_ns + step->at_ns > now_ns)
			return;
		if (command_is_for(&step->command, vcpu->index))
			obey(vcpu, vcpu->start_ns + step->at_ns, &step->command, CHANGE_SCRIPT);
		vcpu->script_next++;
	}
}

/*
 * Adds the time since the last settlement to the account, and runs the governor and the script.
 * Returns that time. The caller accounts for its instructions.
 */
static uint64_t pass_time(struct vcpu *vcpu, uint64_t now_ns)
{
	struct vcpu_account *account = &vcpu->account;
	uint64_t passed_ns = now_ns > account->settled_ns ? now_ns - account->settled_ns : 0;

	if (vcpu->idle)
		account->idle_ns += passed_ns;
	else
		account->active_ns += passed_ns;
	account->settled_ns += passed_ns;
	follow_governor(vcpu, now_ns);
	follow_script(vcpu, now_ns);
	return passed_ns;
}

static void take_speed(struct vcpu *vcpu, uint64_t now_ns)
{
	bool was_throttled = is_throttled(vcpu);

	vcpu->speed_kips = ramp_speed_kips(&vcpu->ramp, now_ns);
	if (is_throttled(vcpu) && !was_throttled)
		pacer_restart(&vcpu->pacer, now_ns);
}

uint64_t vcpu_quantum(const struct vcpu *vcpu)
{
	uint64_t instructions;

	if (vcpu->owes)
		return 0;
	if (!is_throttled(vcpu))
		return UNTHROTTLED_QUANTUM;
	instructions = speed_instructions(vcpu->speed_kips, vcpu->config.quantum_ns);
	return instructions < VCPU_QUANTUM_INSTRUCTIONS_MAX ? instructions
							    : VCPU_QUANTUM_INSTRUCTIONS_MAX;
}

/*
 * Counts the instructions, and the time that they should have taken, or really took if the vCPU is
 * unthrottled. Returns their cost for the pacer, 0 if unthrottled.
 */
static uint64_t account_for(struct vcpu *vcpu, uint64_t now_ns, uint64_t instructions)
{
	uint64_t cost_ns = is_throttled(vcpu) ? speed_cost_ns(vcpu->speed_kips, instructions) : 0;
	uint64_t passed_ns = pass_time(vcpu, now_ns);

	vcpu->account.instructions += instructions;
	vcpu->account.paced_ns += is_throttled(vcpu) ? cost_ns : passed_ns;
	return cost_ns;
}

uint64_t vcpu_settle(struct vcpu *vcpu, uint64_t now_ns, uint64_t instructions)
{
	uint64_t cost_ns = account_for(vcpu, now_ns, instructions);
	uint64_t until_ns = now_ns;

	if (is_throttled(vcpu)) {
		until_ns = pacer_advance(&vcpu->pacer, now_ns, cost_ns);
		pacer_release(&vcpu->pacer, now_ns);
	}
	vcpu->account.lost_ns = vcpu->pacer.lost_ns;
	vcpu->owes = false;
	take_speed(vcpu, now_ns);
	return until_ns;
}

void vcpu_idle(struct vcpu *vcpu, uint64_t now_ns, uint64_t instructions)
{
	uint64_t cost_ns;

	if (vcpu->idle)
		return;
	cost_ns = account_for(vcpu, now_ns, instructions);
	if (is_throttled(vcpu))
		pacer_idle(&vcpu->pacer, now_ns, cost_ns);
	vcpu->account.lost_ns = vcpu->pacer.lost_ns;
	vcpu->idle = true;
}

void vcpu_resume(struct vcpu *vcpu, uint64_t now_ns)
{
	if (!vcpu->idle)
		return;
	pass_time(vcpu, now_ns);
	vcpu->idle = false;
	pacer_resume(&vcpu->pacer, now_ns);
	take_speed(vcpu, now_ns);
	vcpu->owes = is_throttled(vcpu) && vcpu->pacer.due_ns > now_ns;
}

void vcpu_look(struct vcpu *vcpu, uint64_t now_ns)
{
	if (vcpu->idle)
		pass_time(vcpu, now_ns);
}

void vcpu_command(struct vcpu *vcpu, uint64_t now_ns, const struct command *command)
{
	obey(vcpu, now_ns, command, CHANGE_CONTROL);
}
