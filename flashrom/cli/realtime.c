/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "cli.h"

#ifndef CONFIG_DELAY_MINIMUM_SLEEP_US
#define CONFIG_DELAY_MINIMUM_SLEEP_US 100
#endif

/*
 * At realtime priority a wait that polls the clock keeps everybody else off its CPU. That is fine
 * for the microseconds below a sensible threshold, not for a build that never sleeps.
 */
#define POLL_US_MAX 10000

static int request_lowest(void)
{
	const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};

	return sched_setscheduler(0, SCHED_FIFO, &lowest) == 0 ? 0 : -errno;
}

void realtime_request(const struct log *log)
{
	const unsigned int threshold_us = CONFIG_DELAY_MINIMUM_SLEEP_US;
	int error;

	if (threshold_us > POLL_US_MAX) {
		log_info(log,
			"Staying at normal priority: this build polls for up to %u us at a "
			"time.\n",
			threshold_us);
		return;
	}
	error = request_lowest();
	if (error != 0)
		log_info(log,
			"Staying at normal priority (%s); with the right to realtime "
			"scheduling, waits may end sooner.\n",
			strerror(-error));
	else
		log_debug(log, "Running at realtime priority.\n");
}
