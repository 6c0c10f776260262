/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CLOCK_REALTIME as others set it: steps, and the leap seconds that the kernel makes. */
#ifndef AGENT_WALL_CLOCK_H
#define AGENT_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* How far ahead a leap second has to be announced: the kernel takes note at the second before. */
#define WALL_CLOCK_LEAP_AHEAD_MS 1100

/* Sets it `seconds` further, or back; 0 or a negative errno. */
int wall_clock_step(int64_t seconds);

/*
 * Sets it to the end of a day, and announces that in WALL_CLOCK_LEAP_AHEAD_MS a second is put in
 * or, with `removed`, left out. Returns 0 or a negative errno.
 */
int wall_clock_announce_leap(bool removed);

/* What adjtimex() calls the state of the clock, TIME_OK and so on; or a negative errno. */
int wall_clock_state(void);

#endif
