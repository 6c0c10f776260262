/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The waits of a canary or a control of a gate. They share no code with flashrom, so that a change
 * under test cannot blind the rig.
 *
 * ASK_PERCENT is the share of the part's longest busy time that is requested, SLEEP_PERCENT the
 * share of the request that is slept. A short request is for the chip witness to find, a short
 * sleep for the delay witness.
 */
#ifndef EMULATORS_YARDSTICK_YARDSTICK_H
#define EMULATORS_YARDSTICK_YARDSTICK_H

#include "model/figure.h"

/* Sleeps by CLOCK_MONOTONIC. The rig finds it by its name, that of flashrom's delay function. */
void default_delay(unsigned int microseconds);

/* Waits for the longest time that the part may be busy with this, by these percentages. */
void yardstick_wait(const struct busy_time *busy);

#endif
