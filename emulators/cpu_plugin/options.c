/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "shared/arguments.h"
#include "shared/units.h"

static int parse_speeds(const char *text, void *field)
{
	struct speed_list *speeds = field;

	for (speeds->count = 0; speeds->count < OPTIONS_LIST_MAX; text++) {
		if (speed_parse(text, &text, &speeds->kips[speeds->count]) < 0)
			return -EINVAL;
		speeds->count++;
		if (*text != ':')
			return *text == '\0' ? 0 : -EINVAL;
	}
	return -EINVAL;
}

static int parse_models(const char *text, void *field)
{
	struct model_list *models = field;

	for (; models->count < OPTIONS_LIST_MAX; text++) {
		size_t len = strcspn(text, ":");
		const struct governor_model *model = governor_find(text, (uint32_t)len);

		if (!model)
			return -EINVAL;
		models->models[models->count++] = model;
		text += len;
		if (*text == '\0')
			return 0;
	}
	return -EINVAL;
}

#define FIELD(name_) ARGUMENT(struct options, name_)
#define NUMBER(name_, min_, max_)                                                                  \
	{FIELD(name_), .wants = "a number from " #min_ " to " #max_, .min = (min_), .max = (max_)}

static const struct argument arguments[] = {
	{FIELD(mips), .wants = "speeds in MIPS, 0 for unthrottled", .parse = parse_speeds},
	{FIELD(min_mips), .wants = "speeds in MIPS", .parse = parse_speeds},
	{FIELD(max_mips), .wants = "speeds in MIPS", .parse = parse_speeds},
	{FIELD(governor), .wants = GOVERNOR_NAMES, .parse = parse_models},
	NUMBER(sampling_us, 100, 10000000),
	NUMBER(latency_us, 0, 10000000),
	NUMBER(ramp_us, 0, 100000000),
	NUMBER(quantum_us, 1, 10000),
	NUMBER(catch_up_us, 0, 1000000),
	NUMBER(spin_us, 0, 10000),
	NUMBER(window_ms, 1, 10000),
	{FIELD(script), .wants = "a path", .parse = argument_text},
	{FIELD(trace), .wants = "a path", .parse = argument_text},
	{FIELD(control), .wants = "a path", .parse = argument_text},
};

static const struct options defaults = {
	.mips = {1, {SPEED_UNTHROTTLED}},
	.sampling_us = 10000,
	.quantum_us = 250,
	.catch_up_us = 5000,
	.window_ms = 100,
};

static int take(const char *word, struct options *options, uint64_t *seen, char *error)
{
	const char *wants = NULL;
	int ret = argument_take(
		arguments, sizeof(arguments) / sizeof(arguments[0]), word, options, seen, &wants);

	if (ret == -ENOENT)
		wants = "no such argument; rig/docs/reference/cpu-plugin.md has them";
	else if (ret == -EEXIST)
		wants = "given twice";
	if (ret < 0)
		snprintf(error, OPTIONS_ERROR_BYTES, "%s: %s", word, wants);
	return ret;
}

int options_parse(int count, char *const *words, struct options *options, char *error)
{
	struct options parsed = defaults;
	uint64_t seen = 0;

	for (int i = 0; i < count; i++) {
		if (take(words[i], &parsed, &seen, error) < 0)
			return -EINVAL;
	}
	*options = parsed;
	return 0;
}

static uint32_t speed_of(const struct speed_list *list, unsigned int index, uint32_t otherwise)
{
	if (list->count == 0)
		return otherwise;
	return list->kips[index < list->count ? index : list->count - 1];
}

static const struct governor_model *model_of(const struct model_list *list, unsigned int index)
{
	static const char otherwise[] = "fixed";

	if (list->count == 0)
		return governor_find(otherwise, sizeof(otherwise) - 1);
	return list->models[index < list->count ? index : list->count - 1];
}

void options_vcpu(const struct options *options, unsigned int index, struct vcpu_config *config)
{
	uint32_t fixed_kips = speed_of(&options->mips, index, SPEED_UNTHROTTLED);

	*config = (struct vcpu_config){
		.model = model_of(&options->governor, index),
		.limits =
			{
				.fixed_kips = fixed_kips,
				.min_kips = speed_of(&options->min_mips, index, 0),
				.max_kips = speed_of(&options->max_mips, index, fixed_kips),
				.sampling_ns = options->sampling_us * NS_PER_US,
			},
		.latency_ns = options->latency_us * NS_PER_US,
		.ramp_ns = options->ramp_us * NS_PER_US,
		.quantum_ns = options->quantum_us * NS_PER_US,
		.catch_up_ns = options->catch_up_us * NS_PER_US,
	};
}

int options_check_vcpu(const struct options *options, unsigned int index, char *error)
{
	struct vcpu_config config;
	const char *complaint;

	options_vcpu(options, index, &config);
	complaint = governor_complaint(config.model, &config.limits);
	if (!complaint)
		return 0;
	snprintf(error, OPTIONS_ERROR_BYTES, "vCPU %u: governor %s %s", index,
		governor_name(config.model), complaint);
	return -EINVAL;
}
