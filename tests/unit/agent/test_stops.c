// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../run_cases.h"
#include "hazards.h"

/* Starts a child that only waits for signals. */
static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	while (pid == 0)
		pause();
	return pid;
}

static void end_sleeper(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(process_is_stopped_and_continued_repeatedly)
{
	pid_t sleeper = start_sleeper();
	struct stops stops;

	assert_int_equal(stops_start(&stops, sleeper, 100), 0);
	for (int turn = 0; turn < 3; turn++) {
		int status;

		assert_int_equal(waitpid(sleeper, &status, WUNTRACED), sleeper);
		assert_true(WIFSTOPPED(status));
		assert_int_equal(waitpid(sleeper, &status, WCONTINUED), sleeper);
		assert_true(WIFCONTINUED(status));
	}
	assert_true(stops_end(&stops) >= 3);
	end_sleeper(sleeper);
}

TEST(process_is_never_stopped_at_a_rate_of_zero)
{
	pid_t sleeper = start_sleeper();
	struct stops stops;

	assert_int_equal(stops_start(&stops, sleeper, 0), 0);
	assert_int_equal(stops_end(&stops), 0);
	assert_int_equal(waitpid(sleeper, NULL, WUNTRACED | WNOHANG), 0);
	end_sleeper(sleeper);
}
