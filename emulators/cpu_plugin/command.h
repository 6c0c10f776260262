/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands to a vCPU while the guest runs, over the control socket or by a script:
 *
 *     VCPU MIPS [RAMP_US]     that speed from now on, reached after RAMP_US (without: `ramp_us`)
 *     VCPU auto [RAMP_US]     back to its governor
 *
 * VCPU is a number, or `*` for all of them. A script is lines of `T_MS` and a command, in order of
 * time, which counts from the start line of the trace; `#` begins a comment. Pure.
 */
#ifndef EMULATORS_CPU_COMMAND_H
#define EMULATORS_CPU_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMAND_VCPU_ALL (-1)
#define COMMAND_VCPU_MAX 1023
#define COMMAND_RAMP_US_MAX 100000000u

struct command {
	int vcpu;
	bool back_to_governor;
	uint32_t speed_kips; /* else */
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

/* One command and nothing else in @text. -EINVAL. */
int command_parse(const char *text, struct command *command);

bool command_is_for(const struct command *command, unsigned int vcpu);

/*
 * A whole script; *@line is the first bad one, counted from 1. -EINVAL, or -ENOMEM. The caller
 * destroys it.
 */
int script_parse(const char *text, struct script *script, size_t *line);

/* @script may be all zeros. */
void script_deinit(struct script *script);

#endif
