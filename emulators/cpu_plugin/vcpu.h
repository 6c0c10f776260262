/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One vCPU: its speed, who decides on it, when it may go on, and an account of what it was given.
 * Pure: moments and counts of instructions are arguments. Whoever calls keeps calls apart.
 *
 * A vCPU is idle until it first resumes. While it is busy it comes back after vcpu_quantum()
 * instructions to settle, and waits as long as it is told to.
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
	uint64_t ramp_ns;    /* and from then until it has changed */
	uint64_t quantum_ns;
	uint64_t catch_up_ns;
};

enum change_reason { CHANGE_GOVERNOR, CHANGE_SCRIPT, CHANGE_CONTROL };

/* A decision, and what follows from it. */
struct speed_change {
	enum change_reason reason;
	uint64_t at_ns;
	struct ramp ramp;
};

/* Sums since the beginning, up to @settled_ns. */
struct vcpu_account {
	uint64_t settled_ns;
	uint64_t instructions;
	uint64_t active_ns; /* it had something to do */
	uint64_t idle_ns;
	uint64_t paced_ns; /* the time that the instructions should have taken */
	uint64_t lost_ns;  /* that the host was late by for so long that it was given up */
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
	uint32_t speed_kips; /* the speed of the instructions that it runs now */
	bool idle;
	bool owes;       /* it is to settle before it runs anything */
	bool overridden; /* by a command: its governor is not asked */
	struct speed_change changes[VCPU_CHANGES_KEPT];
	size_t change_count;
	size_t changes_dropped; /* since there was no room */
};

/* @script may be empty, and must stay. */
void vcpu_init(struct vcpu *vcpu, unsigned int index, const struct vcpu_config *config,
	const struct script *script, uint64_t now_ns);

/* After how many instructions it is to settle next; 0: before it runs any. */
uint64_t vcpu_quantum(const struct vcpu *vcpu);

/* It ran @instructions since it last settled. Returns when it may go on, @now_ns for at once. */
uint64_t vcpu_settle(struct vcpu *vcpu, uint64_t now_ns, uint64_t instructions);

/* It goes on after a wait. */
void vcpu_release(struct vcpu *vcpu, uint64_t now_ns);

/* It has nothing to do any more, after @instructions; it has again. */
void vcpu_idle(struct vcpu *vcpu, uint64_t now_ns, uint64_t instructions);
void vcpu_resume(struct vcpu *vcpu, uint64_t now_ns);

/* Brings the account of an idle one up to now; that of a busy one is as it last settled. */
void vcpu_look(struct vcpu *vcpu, uint64_t now_ns);

void vcpu_command(struct vcpu *vcpu, uint64_t now_ns, const struct command *command);

#endif
