/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One vCPU: its speed, the governor, script or command that sets it, its waits, and an account of
 * its work. Pure: moments and counts of instructions are arguments. The caller locks.
 *
 * A vCPU is idle until it first resumes. A busy vCPU runs vcpu_quantum() instructions, calls
 * vcpu_settle(), and waits until the moment that this returns.
 */
#ifndef EMULATORS_CPU_VCPU_H
#define EMULATORS_CPU_VCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "governor.h"
#include "pacer.h"
#include "speed.h"

#define VCPU_QUANTUM_INSTRUCTIONS_MAX (UINT64_C(1) << 28)
#define VCPU_CHANGES_KEPT 32

struct vcpu_config {
	const struct governor_model *model;
	struct governor_limits limits;
	uint64_t latency_ns; /* from a decision until the speed begins to change */
	uint64_t ramp_ns;    /* from then until the speed has changed */
	uint64_t quantum_ns;
	uint64_t catch_up_ns;
};

enum change_reason { CHANGE_GOVERNOR, CHANGE_SCRIPT, CHANGE_CONTROL };

/* A decision about the speed, and the resulting change. */
struct speed_change {
	enum change_reason reason;
	uint64_t at_ns;
	struct ramp ramp;
};

/* Sums from vcpu_init() to @settled_ns. */
struct vcpu_account {
	uint64_t settled_ns;
	uint64_t instructions;
	uint64_t active_ns;
	uint64_t idle_ns;
	uint64_t paced_ns; /* the time that the instructions should have taken */
	uint64_t lost_ns;  /* delays by the host that are not caught up (pacer.h) */
};

struct vcpu {
	unsigned int index;
	struct vcpu_config config;
	const struct script *script;
	size_t script_next;
	uint64_t start_ns;
	struct governor governor;
	struct ramp ramp;
	struct pacer pacer;
	struct vcpu_account account;
	uint32_t speed_kips; /* the speed of this quantum */
	bool idle;
	bool owes;       /* it must settle before it runs anything */
	bool overridden; /* by a command: the governor's decisions are ignored */
	struct speed_change changes[VCPU_CHANGES_KEPT];
	size_t change_count;
	size_t changes_dropped; /* because there was no room */
};

/* @script may be empty, and must stay. */
void vcpu_init(struct vcpu *vcpu, unsigned int index, const struct vcpu_config *config,
	const struct script *script, uint64_t now_ns);

/* Returns how many instructions the vCPU may run before it must settle; may be 0. */
uint64_t vcpu_quantum(const struct vcpu *vcpu);

/*
 * Accounts for @instructions, run since it last settled. Returns when the vCPU may continue;
 * @now_ns means at once.
 */
uint64_t vcpu_settle(struct vcpu *vcpu, uint64_t now_ns, uint64_t instructions);

/* Notes that the wait has ended at @now_ns. */
void vcpu_release(struct vcpu *vcpu, uint64_t now_ns);

/* The vCPU becomes idle, after @instructions since it last settled; it becomes busy again. */
void vcpu_idle(struct vcpu *vcpu, uint64_t now_ns, uint64_t instructions);
void vcpu_resume(struct vcpu *vcpu, uint64_t now_ns);

/* Updates the account of an idle vCPU to @now_ns. A busy vCPU's ends when it last settled. */
void vcpu_look(struct vcpu *vcpu, uint64_t now_ns);

void vcpu_command(struct vcpu *vcpu, uint64_t now_ns, const struct command *command);

#endif
