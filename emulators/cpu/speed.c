/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "speed.h"

#include <errno.h>
#include <stdbool.h>

#define KIPS_PER_MIPS 1000u
#define NS_PER_MS UINT64_C(1000000) /* a speed of 1 kips is one instruction a millisecond */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *parse_whole(const char *text, uint64_t *kips)
{
	*kips = 0;
	while (is_digit(*text) && *kips <= SPEED_KIPS_MAX)
		*kips = *kips * 10 + (uint64_t)(*text++ - '0') * KIPS_PER_MIPS;
	return text;
}

/* Up to three digits behind a point; a fourth one is not taken, and then is in the caller's way. */
static const char *parse_fraction(const char *text, uint64_t *kips)
{
	for (uint64_t weight = KIPS_PER_MIPS / 10; weight > 0 && is_digit(*text); weight /= 10)
		*kips += (uint64_t)(*text++ - '0') * weight;
	return text;
}

int speed_parse(const char *text, const char **end, uint32_t *speed_kips)
{
	uint64_t kips;

	if (!is_digit(*text))
		return -EINVAL;
	text = parse_whole(text, &kips);
	if (*text == '.') {
		if (!is_digit(text[1]))
			return -EINVAL;
		text = parse_fraction(text + 1, &kips);
	}
	if (kips > SPEED_KIPS_MAX)
		return -EINVAL;
	*end = text;
	*speed_kips = (uint32_t)kips;
	return 0;
}

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
