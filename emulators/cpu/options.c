/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text/number.h"

#define NS_PER_US UINT64_C(1000)

#define SAMPLING_US_DEFAULT 10000
#define QUANTUM_US_DEFAULT 250
#define CATCH_UP_US_DEFAULT 5000
#define WINDOW_MS_DEFAULT 100

/* Reads the words of one list; a bad word is where *@text then stands. */
static int parse_speeds(const char **text, void *list)
{
	struct speed_list *speeds = list;

	while (speeds->count < OPTIONS_LIST_MAX) {
		if (speed_parse(*text, text, &speeds->kips[speeds->count]) < 0)
			return -EINVAL;
		speeds->count++;
		if (**text != ':')
			return **text == '\0' ? 0 : -EINVAL;
		(*text)++;
	}
	return -EINVAL;
}

static int parse_models(const char **text, void *list)
{
	struct model_list *models = list;

	while (models->count < OPTIONS_LIST_MAX) {
		size_t len = strcspn(*text, ":");
		const struct governor_model *model = governor_find(*text, (uint32_t)len);

		if (!model)
			return -EINVAL;
		models->models[models->count++] = model;
		*text += len;
		if (**text == '\0')
			return 0;
		(*text)++;
	}
	return -EINVAL;
}

static int parse_path(const char **text, void *path)
{
	if (**text == '\0')
		return -EINVAL;
	*(const char **)path = *text;
	return 0;
}

struct key {
	const char *name;
	const char *wants;
	size_t offset; /* in struct options */
	int (*parse)(const char **text, void *field);
	uint64_t min; /* of a number, which has no parse() */
	uint64_t max;
};

#define FIELD(name_) .name = #name_, .offset = offsetof(struct options, name_)
#define NUMBER(name_, min_, max_)                                                                  \
	{FIELD(name_), .wants = "a number from " #min_ " to " #max_, .min = (min_), .max = (max_)}

static const struct key keys[] = {
	{FIELD(mips), .wants = "speeds in MIPS, 0 for unthrottled", .parse = parse_speeds},
	{FIELD(min_mips), .wants = "speeds in MIPS", .parse = parse_speeds},
	{FIELD(max_mips), .wants = "speeds in MIPS", .parse = parse_speeds},
	{FIELD(governor), .wants = "governors", .parse = parse_models},
	NUMBER(sampling_us, 100, 10000000),
	NUMBER(latency_us, 0, 10000000),
	NUMBER(ramp_us, 0, 100000000),
	NUMBER(quantum_us, 1, 10000),
	NUMBER(catch_up_us, 0, 1000000),
	NUMBER(spin_us, 0, 10000),
	NUMBER(window_ms, 1, 10000),
	{FIELD(script), .wants = "a path", .parse = parse_path},
	{FIELD(trace), .wants = "a path", .parse = parse_path},
	{FIELD(control), .wants = "a path", .parse = parse_path},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

static const struct options defaults = {
	.mips = {1, {SPEED_UNTHROTTLED}},
	.sampling_us = SAMPLING_US_DEFAULT,
	.quantum_us = QUANTUM_US_DEFAULT,
	.catch_up_us = CATCH_UP_US_DEFAULT,
	.window_ms = WINDOW_MS_DEFAULT,
};

static int parse_value(const struct key *key, const char *text, struct options *options)
{
	void *field = (char *)options + key->offset;

	if (key->parse)
		return key->parse(&text, field);
	return number_parse(text, 10, key->min, key->max, field) ? 0 : -EINVAL;
}

static const struct key *find_key(const char *argument, size_t len)
{
	for (size_t i = 0; i < KEY_COUNT; i++) {
		if (strlen(keys[i].name) == len && strncmp(keys[i].name, argument, len) == 0)
			return &keys[i];
	}
	return NULL;
}

static int complain(char *error, const char *argument, const char *wants)
{
	snprintf(error, OPTIONS_ERROR_BYTES, "%s: %s", argument, wants);
	return -EINVAL;
}

static int parse_argument(
	const char *argument, struct options *options, uint32_t *seen, char *error)
{
	size_t len = strcspn(argument, "=");
	const struct key *key = find_key(argument, len);
	uint32_t bit;

	if (!key || argument[len] != '=')
		return complain(error, argument,
			"no such argument; rig/docs/reference/cpu-plugin.md has them");
	bit = UINT32_C(1) << (key - keys);
	if (*seen & bit)
		return complain(error, argument, "given twice");
	*seen |= bit;
	if (key->offset == offsetof(struct options, mips))
		options->mips.count = 0; /* those given take the default's place */
	if (parse_value(key, argument + len + 1, options) < 0)
		return complain(error, argument,
			key->parse == parse_models ? governor_names() : key->wants);
	return 0;
}

int options_parse(int count, char *const *arguments, struct options *options, char *error)
{
	struct options parsed = defaults;
	uint32_t seen = 0;

	for (int i = 0; i < count; i++) {
		if (parse_argument(arguments[i], &parsed, &seen, error) < 0)
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
