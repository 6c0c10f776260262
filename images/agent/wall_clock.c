// SPDX-License-Identifier: GPL-2.0-or-later
/* Source: adjtimex(2); Linux kernel/time/ntp.c for when a second is announced and taken. */
#include "wall_clock.h"

#include <errno.h>
#include <sys/timex.h>
#include <time.h>

#define S_PER_DAY 86400
#define NS_PER_MS 1000000L
#define MS_PER_S 1000

int wall_clock_step(int64_t seconds)
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now) < 0)
		return -errno;
	now.tv_sec += seconds;
	return clock_settime(CLOCK_REALTIME, &now) < 0 ? -errno : 0;
}

/* A second that is put in comes after the last one of the day; one left out is that one. */
static int set_before_leap(bool removed)
{
	struct timespec time;

	if (clock_gettime(CLOCK_REALTIME, &time) < 0)
		return -errno;
	time.tv_sec += S_PER_DAY - time.tv_sec % S_PER_DAY;
	time.tv_sec -= WALL_CLOCK_LEAP_AHEAD_MS / MS_PER_S + (removed ? 2 : 1);
	time.tv_nsec = (MS_PER_S - WALL_CLOCK_LEAP_AHEAD_MS % MS_PER_S) * NS_PER_MS;
	return clock_settime(CLOCK_REALTIME, &time) < 0 ? -errno : 0;
}

int wall_clock_announce_leap(bool removed)
{
	/* A clock whose error is not known tells no state but that. */
	struct timex order = {
		.modes = ADJ_STATUS | ADJ_MAXERROR,
		.status = removed ? STA_DEL : STA_INS,
		.maxerror = 0,
	};
	int error = set_before_leap(removed);

	if (error)
		return error;
	return adjtimex(&order) < 0 ? -errno : 0;
}

int wall_clock_state(void)
{
	struct timex look = {.modes = 0};
	int state = adjtimex(&look);

	return state < 0 ? -errno : state;
}
