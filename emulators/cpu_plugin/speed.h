/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speeds of vCPUs, in thousands of instructions a second (kips), and changes of speed that take
 * time. 0 means unthrottled. Users write MIPS, with up to three decimals. Pure.
 */
#ifndef EMULATORS_CPU_SPEED_H
#define EMULATORS_CPU_SPEED_H

#include <stdint.h>

#define SPEED_UNTHROTTLED 0u
#define SPEED_KIPS_MAX 100000000u /* 100000 MIPS */

/* Parses MIPS such as `60` or `0.25`; *@end is what follows. -EINVAL: not a speed, or too high. */
int speed_parse(const char *text, const char **end, uint32_t *speed_kips);

/* Returns the time of @instructions at @speed_kips, rounded up. @speed_kips must not be 0. */
uint64_t speed_cost_ns(uint32_t speed_kips, uint64_t instructions);

/* Returns the number of instructions that fit into @ns, at least 1. @ns is 100 s at most. */
uint64_t speed_instructions(uint32_t speed_kips, uint64_t ns);

/* A linear change from one speed to another, from @begin_ns to @end_ns. */
struct ramp {
	uint32_t from_kips;
	uint32_t to_kips;
	uint64_t begin_ns;
	uint64_t end_ns;
};

/* Sets a constant speed. */
void ramp_hold(struct ramp *ramp, uint32_t speed_kips);

/*
 * Starts a change to @to_kips. The speed at @now_ns holds for @latency_ns, and then changes for
 * @ramp_ns. A change to or from unthrottled is one step at the end of the latency.
 */
void ramp_start(struct ramp *ramp, uint64_t now_ns, uint32_t to_kips, uint64_t latency_ns,
	uint64_t ramp_ns);

uint32_t ramp_speed_kips(const struct ramp *ramp, uint64_t now_ns);

#endif
