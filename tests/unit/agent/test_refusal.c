// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cases.h"
#include "spec.h"

static void unknown_call_or_error_is_refused(void)
{
	struct refusals refusals = {0};

	assert_false(refusals_add(&refusals, "sleep", NULL));
	assert_false(refusals_add(&refusals, "sleep", "EPERM"));
	assert_false(refusals_add(&refusals, "sleeps", "eperm"));
	assert_int_equal(refusals.count, 0);
	for (int i = 0; i < REFUSALS_MAX; i++)
		assert_true(refusals_add(&refusals, "clock", "einval"));
	assert_false(refusals_add(&refusals, "clock", "einval"));
}

/*
 * Runs in a child, since the filter cannot be removed. Returns 0, or the number of the failed step.
 */
static int sleep_and_make_a_timer(const struct refusals *refusals)
{
	const struct timespec second = {1, 0};

	/* An unprivileged process needs this to install a filter. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || refusals_install(refusals) < 0)
		return 1;
	if (nanosleep(&second, NULL) != -1 || errno != EPERM)
		return 2;
	if (clock_nanosleep(CLOCK_MONOTONIC, 0, &second, NULL) != EPERM)
		return 3;
	if (timerfd_create(CLOCK_MONOTONIC, 0) != -1 || errno != ENOSYS)
		return 4;
	return getppid() > 0 ? 0 : 5;
}

static void refused_calls_fail_and_others_do_not(void)
{
	struct refusals refusals = {0};
	int status;
	pid_t pid;

	assert_true(refusals_add(&refusals, "sleep", "eperm"));
	assert_true(refusals_add(&refusals, "timerfd", "enosys"));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(sleep_and_make_a_timer(&refusals));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static const struct CMUnitTest tests[] = {
	CASE(unknown_call_or_error_is_refused),
	CASE(refused_calls_fail_and_others_do_not),
};

RUN_CASES(tests)
