/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PLATFORM_UDELAY_H
#define PLATFORM_UDELAY_H

/**
 * Returns once at least `usecs` microseconds have passed on CLOCK_MONOTONIC; at once for 0.
 *
 * Neither the CPU's speed nor signals nor a stepped wall clock make it return early; how late it
 * returns depends on the system. Waits of CONFIG_DELAY_MINIMUM_SLEEP_US and more give up the CPU,
 * shorter ones poll the clock. Any thread may call it. It does not change the thread's scheduling
 * class, and restores its timer slack.
 *
 * Systems without CLOCK_MONOTONIC use the wall clock; a step of it makes a wait early by 50 us at
 * most.
 */
void default_delay(unsigned int usecs);

#endif
