/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PAST_MISTAKE_H
#define PAST_MISTAKE_H

#include <stdint.h>
#include <time.h>

#include "platform/udelay.h"

struct flash;

/** The mistake of this build in words, for its second line of output. */
extern const char past_mistake[];

/** Runs before main(), for mistakes that calibrate a loop or query the clock. */
void past_mistake_prepare(void);

/** Replaces flash_wait_us(); the name is that of the linker's --wrap. */
int __wrap_flash_wait_us(struct flash *flash, uint32_t us);

#define WAIT_NS_PER_US UINT64_C(1000)
#define WAIT_NS_PER_MS UINT64_C(1000000)

/** The shortest wait for which wait_ns() sleeps, as in the shipped delay layer. */
#define WAIT_SLEEP_NS_MIN (100 * WAIT_NS_PER_US)

/** The single steps of a correct wait. A mistake gets only one of them wrong. */
uint64_t wait_now_ns(clockid_t clock);
void wait_poll_until(clockid_t clock, uint64_t until_ns);
void wait_sleep_until(clockid_t clock, uint64_t until_ns);

/** Returns once `length_ns` have passed on `clock`; short waits poll, others sleep. */
void wait_ns(clockid_t clock, uint64_t length_ns);

/** The shortest run of a loop from which its speed is computed: a quarter of a second. */
#define LOOP_MEASURED_US_MIN UINT64_C(250000)

/** Counts to `rounds`, in a time that depends on the CPU. */
void loop_spin(uint64_t rounds);

/** Runs `rounds` and returns the time in microseconds. */
uint64_t loop_measure_us(uint64_t rounds);

/** Returns the rounds per microsecond, rounded up, at the CPU's present speed. */
uint64_t loop_calibrate(void);

#endif
