/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a part loses its power: during its n-th busy time. A value, to be read from a text. */
#ifndef EMULATORS_MODEL_POWER_CUT_H
#define EMULATORS_MODEL_POWER_CUT_H

#include <stdbool.h>
#include <stdint.h>

#define POWER_CUT_PERCENT_DEFAULT 50

struct power_cut {
	uint32_t nth; /* of the busy times, from 1 on; 0: never */
	bool is_percent;
	uint64_t after;  /* its beginning: percent of that busy time, or ns */
	uint64_t off_ns; /* for how long; 0: for ever */
};

/* NTH[,PERCENT%|,NS[,OFF_NS]] such as 3 or 3,50% or 3,1500,2000000. -EINVAL for other text. */
int power_cut_parse(const char *text, struct power_cut *cut);

/* How long after the beginning of a busy time of @work_ns. */
uint64_t power_cut_after_ns(const struct power_cut *cut, uint64_t work_ns);

#endif
