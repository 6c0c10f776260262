/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses a vCPU's speed by how busy it was: models of Linux' cpufreq governors. Pure.
 *
 * A governor gets every stretch of time, busy or idle, in order. It evaluates them when a sampling
 * period is over, as the kernel's governors do; the time of the hardware's change is handled
 * elsewhere.
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
	uint64_t seen_ns;  /* told of up to here */
	uint64_t slice_ns; /* the length of a slice */
	uint64_t slice_end_ns;
	uint64_t busy_ns; /* in this slice */
	uint64_t work;    /* the model's memory of it */
	uint64_t sample_end_ns;
};

/* NULL: there is none of that name. */
const struct governor_model *governor_find(const char *name, uint32_t name_bytes);
const char *governor_name(const struct governor_model *model);

/* All names, a blank between. */
const char *governor_names(void);

/* Returns the fault of the limits for this model; NULL: none. */
const char *governor_complaint(
	const struct governor_model *model, const struct governor_limits *limits);

void governor_init(struct governor *governor, const struct governor_model *model,
	const struct governor_limits *limits, uint64_t now_ns);

/*
 * From where it was told to @until_ns the vCPU was busy at @speed_kips, or idle. Stops where a
 * sampling period ended with another speed wanted: then *@changed_ns is when, and it returns true;
 * the caller asks again for the rest.
 */
bool governor_watch(struct governor *governor, uint64_t until_ns, bool busy, uint32_t speed_kips,
	uint64_t *changed_ns);

#endif
