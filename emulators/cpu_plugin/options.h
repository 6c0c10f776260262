/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin's arguments: `KEY=VALUE`, each at most once. A list has one word for each vCPU,
 * separated by colons; the last word also holds for all further vCPUs. Described in
 * rig/docs/reference/cpu-plugin.md. Pure.
 */
#ifndef EMULATORS_CPU_PLUGIN_OPTIONS_H
#define EMULATORS_CPU_PLUGIN_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "vcpu.h"

#define OPTIONS_LIST_MAX 64
#define OPTIONS_ERROR_BYTES 160

struct speed_list {
	size_t count;
	uint32_t kips[OPTIONS_LIST_MAX];
};

struct model_list {
	size_t count;
	const struct governor_model *models[OPTIONS_LIST_MAX];
};

/* The strings point into the arguments, which must stay valid. */
struct options {
	struct speed_list mips;
	struct speed_list min_mips;
	struct speed_list max_mips;
	struct model_list governor;
	uint64_t sampling_us;
	uint64_t latency_us;
	uint64_t ramp_us;
	uint64_t quantum_us;
	uint64_t catch_up_us;
	uint64_t spin_us;
	uint64_t window_ms;
	const char *script; /* this and the next two are paths; NULL: none */
	const char *trace;
	const char *control;
};

/* Returns 0, or -EINVAL with the bad argument and the reason in @error (OPTIONS_ERROR_BYTES). */
int options_parse(int count, char *const *words, struct options *options, char *error);

/* Sets @config to the settings of one vCPU. */
void options_vcpu(const struct options *options, unsigned int index, struct vcpu_config *config);

/* Returns 0, or -EINVAL with @error as above if that vCPU's governor cannot use its limits. */
int options_check_vcpu(const struct options *options, unsigned int index, char *error);

#endif
