/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PAST_MISTAKE_WAIT_H
#define PAST_MISTAKE_WAIT_H

#include <stdint.h>
#include <time.h>

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

#endif
