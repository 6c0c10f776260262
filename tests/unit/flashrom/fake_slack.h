/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FAKE_SLACK_H
#define FAKE_SLACK_H

#include <sys/prctl.h>

#include "../cases.h"

/* The fake timer slack of the thread. Link with --wrap=prctl. */
static struct fake_slack {
	int now_ns;
	int get_result; /* returned instead of now_ns, if not 0 */
	int set_result;
	unsigned int gets;
	unsigned int sets;
	int ns_max; /* the largest slack during a sleep */
} slack;

int __wrap_prctl(int option, ...);

int __wrap_prctl(int option, ...)
{
	va_list arguments;

	if (option == PR_GET_TIMERSLACK) {
		slack.gets++;
		return slack.get_result != 0 ? slack.get_result : slack.now_ns;
	}
	assert_int_equal(option, PR_SET_TIMERSLACK);
	slack.sets++;
	va_start(arguments, option);
	if (slack.set_result == 0)
		slack.now_ns = (int)va_arg(arguments, long);
	va_end(arguments);
	return slack.set_result;
}

static inline void fake_slack_see_sleep(void)
{
	if (slack.now_ns > slack.ns_max)
		slack.ns_max = slack.now_ns;
}

#endif
