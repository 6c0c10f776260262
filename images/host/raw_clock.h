/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counter that the rig's witnesses go by. In a guest of the virtual lane it counts nanoseconds
 * of virtual time, whatever the kernel makes of it.
 */
#ifndef HOST_RAW_CLOCK_H
#define HOST_RAW_CLOCK_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>

static inline uint64_t raw_clock_ns(void)
{
	return __rdtsc();
}

#elif defined(__aarch64__)

/* Counts at the frequency that the firmware wrote down (Arm ARM, D13.8: CNTVCT, CNTFRQ). */
static inline uint64_t raw_clock_ns(void)
{
	uint64_t count, frequency_hz;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(count)::"memory");
	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency_hz));
	return (uint64_t)((unsigned __int128)count * 1000000000u / frequency_hz);
}

#else
#error "no raw counter is known for this architecture"
#endif

#endif
