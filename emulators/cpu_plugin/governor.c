/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vcpu.h"

#include <stddef.h>
#include <string.h>

/*
 * PELT divides time into slices of 1024 us. The weight of a slice halves every 32 slices (Linux
 * Documentation/scheduler/schedutil.rst). Y is the 32nd root of 1/2 in units of 2^-32.
 */
#define PELT_SLICE_NS UINT64_C(1024000)
#define PELT_Y UINT64_C(4202935003)
#define PELT_SHIFT 32
#define UTILISATION_FULL (UINT64_C(1) << 20)

#define UP_THRESHOLD_PERCENT 80 /* DEF_FREQUENCY_UP_THRESHOLD of ondemand */
#define PERCENT 100

/* At most this many slices before the end of an interval are evaluated: older ones do not matter.
 */
#define SLICES_REMEMBERED 2048

struct governor_model {
	const char *name;
	uint64_t slice_ns; /* 0: the sampling period */
	bool needs_min;
	bool needs_max;
	size_t first; /* the offset of the limit that is the first speed */
	/* Called at the end of a slice. NULL if `choose` is NULL. */
	void (*learn)(struct governor *governor, uint32_t speed_kips);
	/* Returns the next speed at the end of a sampling period. NULL: always the first. */
	uint32_t (*choose)(const struct governor *governor);
};

static uint32_t clamped(const struct governor_limits *limits, uint64_t kips)
{
	if (kips < limits->min_kips)
		return limits->min_kips;
	return kips > limits->max_kips ? limits->max_kips : (uint32_t)kips;
}

/* ondemand remembers the load of the last period, in percent. */
static void learn_load(struct governor *governor, uint32_t speed_kips)
{
	(void)speed_kips;
	governor->work = governor->busy_ns * PERCENT / governor->slice_ns;
}

static uint32_t choose_ondemand(const struct governor *governor)
{
	const struct governor_limits *limits = &governor->limits;

	if (governor->work > UP_THRESHOLD_PERCENT)
		return limits->max_kips;
	return limits->min_kips +
	       (uint32_t)(governor->work * (limits->max_kips - limits->min_kips) / PERCENT);
}

/* schedutil remembers the used part of max_kips, an average in which older slices count less. */
static void learn_utilisation(struct governor *governor, uint32_t speed_kips)
{
	uint64_t busy = governor->busy_ns * UTILISATION_FULL / governor->slice_ns;
	uint64_t used = busy * speed_kips / governor->limits.max_kips;
	uint64_t decayed = governor->work * PELT_Y >> PELT_SHIFT;
	uint64_t added = used - (used * PELT_Y >> PELT_SHIFT);

	governor->work = decayed + added;
}

/* schedutil chooses a quarter more than the used speed. */
static uint32_t choose_schedutil(const struct governor *governor)
{
	uint64_t used_kips = governor->work * governor->limits.max_kips / UTILISATION_FULL;

	return clamped(&governor->limits, used_kips + used_kips / 4);
}

#define FIRST(limit_) offsetof(struct governor_limits, limit_)

/* Linux Documentation/admin-guide/pm/cpufreq.rst describes all of them but `fixed`. */
static const struct governor_model models[] = {
	{"fixed", 0, false, false, FIRST(fixed_kips), NULL, NULL},
	{"performance", 0, false, true, FIRST(max_kips), NULL, NULL},
	{"powersave", 0, true, false, FIRST(min_kips), NULL, NULL},
	{"ondemand", 0, true, true, FIRST(min_kips), learn_load, choose_ondemand},
	{"schedutil", PELT_SLICE_NS, true, true, FIRST(min_kips), learn_utilisation,
		choose_schedutil},
};

#define MODEL_COUNT (sizeof(models) / sizeof(models[0]))

const struct governor_model *governor_find(const char *name, uint32_t name_bytes)
{
	for (size_t i = 0; i < MODEL_COUNT; i++) {
		if (strlen(models[i].name) == name_bytes &&
			strncmp(models[i].name, name, name_bytes) == 0)
			return &models[i];
	}
	return NULL;
}

const char *governor_name(const struct governor_model *model)
{
	return model->name;
}

const char *governor_complaint(
	const struct governor_model *model, const struct governor_limits *limits)
{
	if (model->needs_min && limits->min_kips == 0)
		return "needs min_mips above 0";
	if (model->needs_max && limits->max_kips == 0)
		return "needs max_mips (or mips) above 0";
	if (model->needs_min && model->needs_max && limits->min_kips > limits->max_kips)
		return "has min_mips above max_mips";
	return NULL;
}

void governor_init(struct governor *governor, const struct governor_model *model,
	const struct governor_limits *limits, uint64_t now_ns)
{
	memset(governor, 0, sizeof(*governor));
	governor->model = model;
	governor->limits = *limits;
	governor->wanted_kips =
		*(const uint32_t *)(const void *)((const char *)limits + model->first);
	governor->seen_ns = now_ns;
	governor->slice_ns = model->slice_ns > 0 ? model->slice_ns : limits->sampling_ns;
	governor->slice_end_ns = now_ns + governor->slice_ns;
	governor->sample_end_ns = now_ns + limits->sampling_ns;
}

/* Ends a slice. Returns true if the wanted speed changes. */
static bool end_slice(struct governor *governor, uint32_t speed_kips)
{
	uint64_t end_ns = governor->slice_end_ns;
	uint32_t wanted_kips = governor->wanted_kips;

	governor->model->learn(governor, speed_kips);
	governor->busy_ns = 0;
	governor->slice_end_ns += governor->slice_ns;
	if (end_ns < governor->sample_end_ns)
		return false;
	governor->sample_end_ns = end_ns + governor->limits.sampling_ns;
	governor->wanted_kips = governor->model->choose(governor);
	return governor->wanted_kips != wanted_kips;
}

/* Skips slices that ended too long ago to matter. */
static void forget_distant_past(struct governor *governor, uint64_t until_ns)
{
	uint64_t slices = (until_ns - governor->seen_ns) / governor->slice_ns;
	uint64_t skipped_ns;

	if (slices <= SLICES_REMEMBERED)
		return;
	skipped_ns = (slices - SLICES_REMEMBERED) * governor->slice_ns;
	governor->seen_ns += skipped_ns;
	governor->slice_end_ns += skipped_ns;
	governor->sample_end_ns += skipped_ns;
}

static void watch_up_to(struct governor *governor, uint64_t until_ns, bool busy)
{
	if (busy)
		governor->busy_ns += until_ns - governor->seen_ns;
	governor->seen_ns = until_ns;
}

bool governor_watch(struct governor *governor, uint64_t until_ns, bool busy, uint32_t speed_kips,
	uint64_t *changed_ns)
{
	if (until_ns <= governor->seen_ns)
		return false;
	if (!governor->model->choose) {
		governor->seen_ns = until_ns;
		return false;
	}
	forget_distant_past(governor, until_ns);
	while (governor->slice_end_ns <= until_ns) {
		watch_up_to(governor, governor->slice_end_ns, busy);
		if (end_slice(governor, speed_kips)) {
			*changed_ns = governor->seen_ns;
			return true;
		}
	}
	watch_up_to(governor, until_ns, busy);
	return false;
}
