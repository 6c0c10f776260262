/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One vCPU: its speed, the governor, script or command that sets it, its waits, and an account of
 * its work. Pure: times and counts of instructions are arguments. The caller locks.
 *
 * A vCPU is idle until it first resumes. A busy vCPU runs vcpu_quantum() instructions, calls
 * vcpu_settle(), and waits until the time that vcpu_settle() returns.
 */
#ifndef EMULATORS_CPU_PLUGIN_VCPU_H
#define EMULATORS_CPU_PLUGIN_VCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Speeds of vCPUs, in thousands of instructions a second (kips), and changes of speed that take
 * time. 0 means unthrottled. Users write MIPS, with up to three decimals. Pure.
 */

#define SPEED_UNTHROTTLED 0u
#define SPEED_KIPS_MAX 100000000u /* 100000 MIPS */

/* Parses MIPS such as `60` or `0.25`. *@end is the text after it. -EINVAL: no speed or too high. */
int speed_parse(const char *text, const char **end, uint32_t *speed_kips);

/* Returns the time of @instructions at @speed_kips, rounded up. @speed_kips must not be 0. */
uint64_t speed_cost_ns(uint32_t speed_kips, uint64_t instructions);

/* Returns the number of instructions that fit into @ns, at least 1. @ns is 100 s at most. */
uint64_t speed_instructions(uint32_t speed_kips, uint64_t ns);

/* A linear change from one speed to another, from @begin_ns to @end_ns. */
struct ramp {
	uint32_t from_kips;
	uint32_t to_kips;
	uint64_t begin_ns;
	uint64_t end_ns;
};

/* Sets a constant speed. */
void ramp_hold(struct ramp *ramp, uint32_t speed_kips);

/*
 * Starts a change to @to_kips. The speed at @now_ns holds for @latency_ns, and then changes for
 * @ramp_ns. A change to or from unthrottled is one step at the end of the latency.
 */
void ramp_start(struct ramp *ramp, uint64_t now_ns, uint32_t to_kips, uint64_t latency_ns,
	uint64_t ramp_ns);

uint32_t ramp_speed_kips(const struct ramp *ramp, uint64_t now_ns);

/*
 * Decides when a vCPU may continue, so that its instructions take the time that they should. Pure:
 * times and the cost of instructions are arguments.
 *
 * `due_ns` is when a vCPU of exactly the right speed would have run the same instructions. A vCPU
 * that is ahead waits until then. A vCPU that the host delayed runs up to a quarter faster until it
 * has caught up; a delay beyond `catch_up_ns` is not caught up, but counted as lost.
 */

struct pacer {
	uint64_t catch_up_ns; /* the largest delay that is caught up */
	uint64_t grace_ns;    /* the most by which a late wake-up shortens the next wait */
	uint64_t due_ns;
	uint64_t wanted_ns;   /* when the last wait should have ended */
	uint64_t released_ns; /* when it ended */
	int64_t ahead_ns;     /* the time that it was ahead when it became idle; negative: behind */
	uint64_t lost_ns;     /* the sum of delays that are not caught up, since pacer_init() */
	uint64_t late_ns_max; /* the largest delay since pacer_take_late_ns() */
};

void pacer_init(struct pacer *pacer, uint64_t now_ns, uint64_t catch_up_ns, uint64_t grace_ns);

/* Forgets what was run before @now_ns; for a vCPU that was not paced until then. */
void pacer_restart(struct pacer *pacer, uint64_t now_ns);

/*
 * Accounts for instructions that should take @cost_ns and are done at @now_ns. Returns when the
 * vCPU may continue; @now_ns means at once.
 */
uint64_t pacer_advance(struct pacer *pacer, uint64_t now_ns, uint64_t cost_ns);

/* Notes that the wait until the time that pacer_advance() returned has ended at @now_ns. */
void pacer_release(struct pacer *pacer, uint64_t now_ns);

/*
 * pacer_idle() accounts for instructions, as pacer_advance() does, when the vCPU becomes idle.
 * pacer_resume() continues when it is busy again. Idle time changes nothing: a vCPU that was ahead
 * must still wait as long afterwards, and one that was behind catches up at most the grace.
 */
void pacer_idle(struct pacer *pacer, uint64_t now_ns, uint64_t cost_ns);
void pacer_resume(struct pacer *pacer, uint64_t now_ns);

/* Returns the largest delay since the last call. */
uint64_t pacer_take_late_ns(struct pacer *pacer);

/*
 * Models of Linux' cpufreq governors: they choose a vCPU's speed by how busy it was. Pure.
 *
 * The caller reports all time in order, in intervals in which the vCPU was busy or idle. A governor
 * decides at the end of each sampling period, as the kernel's governors do. struct ramp models the
 * time that a change of speed takes.
 */

struct governor_model;

struct governor_limits {
	uint32_t fixed_kips; /* the speed of `fixed`: 0 is unthrottled */
	uint32_t min_kips;
	uint32_t max_kips;
	uint64_t sampling_ns; /* above 0 */
};

struct governor {
	const struct governor_model *model;
	struct governor_limits limits;
	uint32_t wanted_kips;
	uint64_t seen_ns;  /* the end of the last interval */
	uint64_t slice_ns; /* the length of a slice */
	uint64_t slice_end_ns;
	uint64_t busy_ns; /* the busy time in this slice */
	uint64_t work;    /* the model's measure of past load */
	uint64_t sample_end_ns;
};

/* Returns NULL if there is no governor of that name. */
const struct governor_model *governor_find(const char *name, uint32_t name_bytes);
const char *governor_name(const struct governor_model *model);

#define GOVERNOR_NAMES "fixed performance powersave ondemand schedutil"

/* Returns what is wrong with the limits for this model, or NULL. */
const char *governor_complaint(
	const struct governor_model *model, const struct governor_limits *limits);

void governor_init(struct governor *governor, const struct governor_model *model,
	const struct governor_limits *limits, uint64_t now_ns);

/*
 * Adds the interval from seen_ns to @until_ns, in which the vCPU was busy at @speed_kips, or idle.
 * If the wanted speed changes within the interval, sets *@changed_ns to the time of the change and
 * returns true; the caller must then call again for the rest of the interval.
 */
bool governor_watch(struct governor *governor, uint64_t until_ns, bool busy, uint32_t speed_kips,
	uint64_t *changed_ns);

/*
 * The commands that change a vCPU's speed while the guest runs. They come from the control socket
 * or from a script:
 *
 *     VCPU MIPS [RAMP_US]     sets the speed; the change takes RAMP_US (default: `ramp_us`)
 *     VCPU auto [RAMP_US]     gives the vCPU back to its governor
 *
 * VCPU is a number, or `*` for all vCPUs. A line of a script is `T_MS` and a command, in order of
 * time. T_MS counts from the start line of the trace; `#` begins a comment. Pure.
 */

#define COMMAND_VCPU_ALL (-1)
#define COMMAND_VCPU_MAX 1023
#define COMMAND_RAMP_US_MAX 100000000u

struct command {
	int vcpu;
	bool back_to_governor;
	uint32_t speed_kips; /* the new speed, unless back_to_governor */
	bool has_ramp;
	uint64_t ramp_ns;
};

struct script_step {
	uint64_t at_ns; /* since the start */
	struct command command;
};

struct script {
	struct script_step *steps;
	size_t count;
};

/* Parses @text, which must hold one command and nothing else. Returns 0 or -EINVAL. */
int command_parse(const char *text, struct command *command);

bool command_is_for(const struct command *command, unsigned int vcpu);

/*
 * Parses a whole script. Returns 0, or -EINVAL or -ENOMEM with the failed line, from 1, in *@line.
 * After success the caller must call script_deinit().
 */
int script_parse(const char *text, struct script *script, size_t *line);

/* @script may be all zeros. */
void script_deinit(struct script *script);

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
	uint64_t lost_ns;  /* delays by the host that are not caught up */
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

/* @script may be empty. It must outlive the vCPU. */
void vcpu_init(struct vcpu *vcpu, unsigned int index, const struct vcpu_config *config,
	const struct script *script, uint64_t now_ns);

/* Returns how many instructions the vCPU may run before it must settle; may be 0. */
uint64_t vcpu_quantum(const struct vcpu *vcpu);

/*
 * Accounts for @instructions, run since it last settled. Returns when the vCPU may continue;
 * @now_ns means at once. After a wait the caller must call pacer_release().
 */
uint64_t vcpu_settle(struct vcpu *vcpu, uint64_t now_ns, uint64_t instructions);

/* Notes that the vCPU becomes idle, after @instructions since it last settled, or busy again. */
void vcpu_idle(struct vcpu *vcpu, uint64_t now_ns, uint64_t instructions);
void vcpu_resume(struct vcpu *vcpu, uint64_t now_ns);

/* Updates the account of an idle vCPU to @now_ns. Leaves that of a busy vCPU to vcpu_settle(). */
void vcpu_look(struct vcpu *vcpu, uint64_t now_ns);

void vcpu_command(struct vcpu *vcpu, uint64_t now_ns, const struct command *command);

#endif
