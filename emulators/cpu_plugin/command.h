/* SPDX-License-Identifier: GPL-2.0-or-later */
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

#endif
