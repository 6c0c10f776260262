/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PLATFORM_UDELAY_H
#define PLATFORM_UDELAY_H

/**
 * Return once at least `usecs` microseconds have passed on CLOCK_MONOTONIC; 0 returns at once.
 *
 * Never early on that clock, whatever the CPU's speed, signals or a stepped wall clock do; how late
 * is up to the system. Waits of CONFIG_DELAY_MINIMUM_SLEEP_US and more give up the CPU, shorter
 * ones poll the clock. Any thread may call it. The thread's scheduling class is left alone, and its
 * timer slack is as it was when the call returns.
 *
 * Systems without CLOCK_MONOTONIC count on the wall clock, and forgive steps of it.
 */
void default_delay(unsigned int usecs);

#endif
