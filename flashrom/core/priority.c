/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "priority.h"

#ifndef CONFIG_DELAY_MINIMUM_SLEEP_US
#define CONFIG_DELAY_MINIMUM_SLEEP_US 100
#endif

/* The early steps of the proposal (steps/) do not ask for priority. */
#ifndef CONFIG_REALTIME
#define CONFIG_REALTIME 1
#endif

/*
 * At realtime priority a wait that polls the clock blocks all others on its CPU. That is acceptable
 * for the microseconds below a sensible threshold, but not in a build that never sleeps.
 */
#define POLL_US_MAX 10000

void priority_raise(const struct log *log, struct realtime *found)
{
	const unsigned int threshold_us = CONFIG_DELAY_MINIMUM_SLEEP_US;
	int error;

	*found = (struct realtime){0};
	if (!CONFIG_REALTIME) {
		log_info(log, "Staying at normal priority: this build asks for no other.\n");
		return;
	}
	if (threshold_us > POLL_US_MAX) {
		log_info(log,
			"Staying at normal priority: this build polls for up to %u us at a "
			"time.\n",
			threshold_us);
		return;
	}
	error = realtime_acquire(found);
	if (error != 0)
		log_info(log,
			"Staying at normal priority (%s); granting CAP_SYS_NICE or RLIMIT_RTPRIO "
			"can make this faster.\n",
			strerror(-error));
	else
		log_debug(log, "Running at realtime priority.\n");
}

void priority_restore(const struct log *log, const struct realtime *found)
{
	const int error = realtime_restore(found);

	if (error != 0)
		log_warning(log, "Cannot go back to normal priority: %s.\n", strerror(-error));
}
