/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Models of Linux' cpufreq governors: they choose a vCPU's speed by how busy it was. Pure.
 *
 * A governor is given every stretch of time, busy or idle, in order. It decides at the end of each
 * sampling period, as the kernel's governors do. The time that a change of speed takes is modelled
 * in speed.h.
 */
#ifndef EMULATORS_CPU_GOVERNOR_H
#define EMULATORS_CPU_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

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
	uint64_t seen_ns;  /* the end of the last stretch */
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
 * Adds a stretch from seen_ns to @until_ns in which the vCPU was busy at @speed_kips, or idle. If
 * the wanted speed changes by then, returns true and sets *@changed_ns to the moment; the caller
 * must then call again for the rest.
 */
bool governor_watch(struct governor *governor, uint64_t until_ns, bool busy, uint32_t speed_kips,
	uint64_t *changed_ns);

#endif
