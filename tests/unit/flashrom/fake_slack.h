/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FAKE_SLACK_H
#define FAKE_SLACK_H

#include <stdarg.h>
#include <sys/prctl.h>

/*
 * The timer slack of a thread, as prctl() reads and sets it. The user of this header wraps prctl().
 */
struct fake_slack {
	int now_ns;
	int get_result; /* instead of now_ns, if not 0 */
	int set_result;
	unsigned int gets;
	unsigned int sets;
};

static inline int fake_slack_prctl(struct fake_slack *slack, int option, va_list arguments)
{
	if (option == PR_GET_TIMERSLACK) {
		slack->gets++;
		return slack->get_result != 0 ? slack->get_result : slack->now_ns;
	}
	assert_int_equal(option, PR_SET_TIMERSLACK);
	slack->sets++;
	if (slack->set_result == 0)
		slack->now_ns = (int)va_arg(arguments, long);
	return slack->set_result;
}

#endif
