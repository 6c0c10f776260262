/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a canary or a control of a gate waits. Nothing of flashrom's is in it, so that a change under
 * test cannot blind the rig.
 *
 * ASK_PERCENT says how much of the part's longest busy time is asked for, and SLEEP_PERCENT how
 * much of what is asked is slept. With less than 100, the chip sees the one and the delay witness
 * the other.
 */
#ifndef EMULATORS_FLOOR_YARDSTICK_H
#define EMULATORS_FLOOR_YARDSTICK_H

#include "model/figure.h"

/* Sleeps, on CLOCK_MONOTONIC. Found by this name, as flashrom's own delay function is. */
void default_delay(unsigned int microseconds);

/* Waits out the longest that the part may be busy with this. */
void yardstick_wait(const struct busy_time *busy);

#endif
