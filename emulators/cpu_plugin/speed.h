/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speeds of vCPUs, in thousands of instructions a second (kips), and changes of speed that take
 * time. 0 is a vCPU that nothing holds back. Users write MIPS, with up to three decimals. Pure.
 */
#ifndef EMULATORS_CPU_SPEED_H
#define EMULATORS_CPU_SPEED_H

#include <stdint.h>

#define SPEED_UNTHROTTLED 0u
#define SPEED_KIPS_MAX 100000000u /* 100000 MIPS */

/* Reads MIPS such as `60` or `0.25`. @end is set behind it. -EINVAL: not a speed, or too high. */
int speed_parse(const char *text, const char **end, uint32_t *speed_kips);

/* Returns the time of that many instructions at @speed_kips, which is not 0; rounded up. */
uint64_t speed_cost_ns(uint32_t speed_kips, uint64_t instructions);

/* Returns the number of instructions that fit into @ns, which is 100 s at most; at least one. */
uint64_t speed_instructions(uint32_t speed_kips, uint64_t ns);

/* A change from one speed to another, at a steady rate from @begin_ns to @end_ns. */
struct ramp {
	uint32_t from_kips;
	uint32_t to_kips;
	uint64_t begin_ns;
	uint64_t end_ns;
};

/* No change: it has that speed already. */
void ramp_hold(struct ramp *ramp, uint32_t speed_kips);

/*
 * From the speed at @now_ns towards @to_kips: it stays as it is for @latency_ns, then moves for
 * @ramp_ns. To and from unthrottled it is one step, at the end of the latency.
 */
void ramp_start(struct ramp *ramp, uint64_t now_ns, uint32_t to_kips, uint64_t latency_ns,
	uint64_t ramp_ns);

uint32_t ramp_speed_kips(const struct ramp *ramp, uint64_t now_ns);

#endif
