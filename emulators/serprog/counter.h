/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The raw counter of the CPU that this is built for, in nanoseconds of QEMU's virtual clock.
 *
 * Under `-icount` QEMU derives the counter from that clock. The x86 time stamp counter counts
 * nanoseconds; the arm64 virtual counter counts CNTFRQ_EL0 times a second. This header reads the
 * counter without the kernel, whose timekeeping may be the subject of a cell.
 *
 * COUNTER_NAME is not defined for a CPU whose counter is not known.
 *
 * Sources: Intel SDM vol. 2B (RDTSC: LFENCE orders it); Arm Architecture Reference Manual, D11
 * (the Generic Timer: ISB orders a reading of CNTVCT_EL0); QEMU target/i386, target/arm.
 */
#ifndef EMULATORS_SERPROG_COUNTER_H
#define EMULATORS_SERPROG_COUNTER_H

#include <stdint.h>

#include "shared/units.h"

/* Rounds down. Does not overflow for rates up to 18 GHz. */
static inline uint64_t counter_to_ns(uint64_t count, uint64_t rate_hz)
{
	return count / rate_hz * NS_PER_S + count % rate_hz * NS_PER_S / rate_hz;
}

/* The fences keep a reading from moving before the system call that it is meant to follow. */
#if defined(__x86_64__) || defined(__i386__)

#define COUNTER_NAME "tsc"

static inline uint64_t counter_read_ns(void)
{
	__asm__ volatile("lfence" ::: "memory");
	return __builtin_ia32_rdtsc();
}

#elif defined(__aarch64__)

#define COUNTER_NAME "cntvct"

static inline uint64_t counter_read_ns(void)
{
	uint64_t count, rate_hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate_hz));
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count)::"memory");
	return counter_to_ns(count, rate_hz);
}

#elif defined(__arm__)

#define COUNTER_NAME "cntvct"

static inline uint64_t counter_read_ns(void)
{
	uint64_t count;
	uint32_t rate_hz;

	__asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(rate_hz));
	__asm__ volatile("isb\n\tmrrc p15, 1, %Q0, %R0, c14" : "=r"(count)::"memory");
	return counter_to_ns(count, rate_hz);
}

#elif defined(__riscv) && __riscv_xlen == 64

#define COUNTER_NAME "rdtime"
/*
 * A kernel reads the rate from the device tree; this is the rate of QEMU's machines
 * (hw/intc/riscv_aclint.h). The counter is in RISC-V ISA manual vol. I, "Zicntr".
 */
#define COUNTER_RATE_HZ UINT64_C(10000000)

static inline uint64_t counter_read_ns(void)
{
	uint64_t count;

	__asm__ volatile("fence iorw, iorw\n\trdtime %0" : "=r"(count)::"memory");
	return counter_to_ns(count, COUNTER_RATE_HZ);
}

#endif

#endif
