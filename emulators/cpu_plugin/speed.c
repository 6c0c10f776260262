/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vcpu.h"

#include <errno.h>

#include "shared/number.h"
#include "shared/units.h"

#define KIPS_PER_MIPS 1000u

int speed_parse(const char *text, const char **end, uint32_t *speed_kips)
{
	uint64_t kips;

	if (!number_begins(text, 10, SPEED_KIPS_MAX / KIPS_PER_MIPS, &text, &kips))
		return -EINVAL;
	kips *= KIPS_PER_MIPS;
	if (*text == '.') {
		if (!is_digit_of(*++text, 10))
			return -EINVAL;
		/* A fourth decimal is left at *@end, where callers refuse it. */
		for (uint64_t weight = KIPS_PER_MIPS / 10; weight > 0 && is_digit_of(*text, 10);
			weight /= 10)
			kips += (uint64_t)(*text++ - '0') * weight;
	}
	if (kips > SPEED_KIPS_MAX)
		return -EINVAL;
	*end = text;
	*speed_kips = (uint32_t)kips;
	return 0;
}

/* A speed of 1 kips is one instruction a millisecond. */
uint64_t speed_cost_ns(uint32_t speed_kips, uint64_t instructions)
{
	return (instructions * NS_PER_MS + speed_kips - 1) / speed_kips;
}

uint64_t speed_instructions(uint32_t speed_kips, uint64_t ns)
{
	uint64_t instructions = speed_kips * ns / NS_PER_MS;

	return instructions > 0 ? instructions : 1;
}

void ramp_hold(struct ramp *ramp, uint32_t speed_kips)
{
	ramp->from_kips = speed_kips;
	ramp->to_kips = speed_kips;
	ramp->begin_ns = 0;
	ramp->end_ns = 0;
}

void ramp_start(
	struct ramp *ramp, uint64_t now_ns, uint32_t to_kips, uint64_t latency_ns, uint64_t ramp_ns)
{
	uint32_t from_kips = ramp_speed_kips(ramp, now_ns);
	bool step = from_kips == SPEED_UNTHROTTLED || to_kips == SPEED_UNTHROTTLED;

	ramp->from_kips = from_kips;
	ramp->to_kips = to_kips;
	ramp->begin_ns = now_ns + latency_ns;
	ramp->end_ns = ramp->begin_ns + (step ? 0 : ramp_ns);
}

uint32_t ramp_speed_kips(const struct ramp *ramp, uint64_t now_ns)
{
	double part;

	if (now_ns >= ramp->end_ns)
		return ramp->to_kips;
	if (now_ns <= ramp->begin_ns)
		return ramp->from_kips;
	part = (double)(now_ns - ramp->begin_ns) / (double)(ramp->end_ns - ramp->begin_ns);
	return (uint32_t)(ramp->from_kips + part * ((double)ramp->to_kips - ramp->from_kips));
}
