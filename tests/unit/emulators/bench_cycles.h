/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bench for parts on a bus of cycles: each cycle takes its time on that bus, and the next one may
 * follow at once. Only the tests include this.
 */
#ifndef TESTS_UNIT_EMULATORS_BENCH_CYCLES_H
#define TESTS_UNIT_EMULATORS_BENCH_CYCLES_H

#include "bench.h"

/* Addresses at which an LPC or FWH part sees its array and its registers. */
#define ARRAY_512K UINT32_C(0xF80000)
#define REGISTERS_512K UINT32_C(0xB80000)

static inline void bench_write(struct bench *bench, uint32_t address, uint8_t value)
{
	uint64_t end_ns = bench->now_ns + bench->chip.part->parallel->cycle_ns;

	chip_write_cycle(&bench->chip, bench->now_ns, end_ns, address, value, &bench->facts);
	bench->now_ns = end_ns;
}

static inline uint8_t bench_get(struct bench *bench, uint32_t address)
{
	uint64_t end_ns = bench->now_ns + bench->chip.part->parallel->cycle_ns;
	uint8_t value =
		chip_read_cycle(&bench->chip, bench->now_ns, end_ns, address, &bench->facts);

	bench->now_ns = end_ns;
	return value;
}

/* Writes AAh, 55h and @value to 5555h and 2AAAh of a part whose addresses begin at @base. */
static inline void bench_command(struct bench *bench, uint32_t base, uint8_t value)
{
	bench_write(bench, base + 0x5555, 0xAA);
	bench_write(bench, base + 0x2AAA, 0x55);
	bench_write(bench, base + 0x5555, value);
}

/* Writes the command that follows 80h, to @address. */
static inline void bench_setup_command(
	struct bench *bench, uint32_t base, uint32_t address, uint8_t value)
{
	bench_command(bench, base, 0x80);
	bench_write(bench, base + 0x5555, 0xAA);
	bench_write(bench, base + 0x2AAA, 0x55);
	bench_write(bench, base + address, value);
}

/* Programs a byte and lets its busy time pass. */
static inline void bench_fill_byte(
	struct bench *bench, uint32_t base, uint32_t address, uint8_t value)
{
	bench_command(bench, base, 0xA0);
	bench_write(bench, base + address, value);
	bench_finish_work(bench);
}

#endif
