// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests calls that are refused, limits of resources, and another uptime. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../run_cases.h"
#include "hypercall.h"
#include "spec.h"

#define MIB (1u << 20)
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_MIB 0 /* no limit, because the sanitizer itself maps terabytes */
#else
#define MEMORY_MIB 64
#endif

uint64_t hypercall_virtual_ns(void)
{
	return 0;
}

/*
 * Checks that @steps returns 0, and not the number of a failed step. They run in a child, because
 * filters and limits cannot be removed; without privileges it needs NO_NEW_PRIVS for a filter.
 */
static void assert_steps_succeed(int (*steps)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? steps() : 99);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(unknown_call_or_error_cannot_be_added)
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

static int make_refused_calls(void)
{
	const struct timespec second = {1, 0};
	struct refusals refusals = {0};

	if (!refusals_add(&refusals, "sleep", "eperm") ||
		!refusals_add(&refusals, "timerfd", "enosys") || refusals_install(&refusals) < 0)
		return 1;
	if (nanosleep(&second, NULL) != -1 || errno != EPERM)
		return 2;
	if (clock_nanosleep(CLOCK_MONOTONIC, 0, &second, NULL) != EPERM)
		return 3;
	if (timerfd_create(CLOCK_MONOTONIC, 0) != -1 || errno != ENOSYS)
		return 4;
	return getppid() > 0 ? 0 : 5;
}

TEST(refused_calls_fail_and_others_do_not)
{
	assert_steps_succeed(make_refused_calls);
}

static void *do_nothing(void *unused)
{
	return unused;
}

static bool can_map(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
	       errno != ENOMEM;
}

static int exceed_each_limit(void)
{
	const struct scarcity few = {
		.descriptors = 3, .memory_mib = MEMORY_MIB, .no_threads = true};
	pthread_t thread;
	pid_t pid;

	if (scarcity_begin(&few) < 0)
		return 1;
	if (timerfd_create(CLOCK_MONOTONIC, 0) != -1 || errno != EMFILE)
		return 2;
	if (MEMORY_MIB != 0 && can_map(65 * MIB))
		return 3;
	if (pthread_create(&thread, NULL, do_nothing, NULL) != EAGAIN)
		return 4;
	pid = fork();
	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid(pid, NULL, 0) == pid ? 0 : 5;
}

TEST(scarce_resources_run_out_but_processes_can_be_started)
{
	assert_steps_succeed(exceed_each_limit);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Starts a child, whose uptime must be at least @from_ns and below @to_ns. */
static void assert_uptime_of_child(uint64_t from_ns, uint64_t to_ns)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		const uint64_t uptime_ns = now_ns();

		_exit(uptime_ns >= from_ns && uptime_ns < to_ns ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(next_child_has_the_uptime_and_later_ones_have_ours)
{
	const uint64_t wanted_ns = UINT64_C(4294967196000000);
	const uint64_t before_ns = now_ns();
	int ours = uptime_begin(wanted_ns);

	if (ours == -EPERM || ours == -EINVAL || ours == -ENOENT)
		skip(); /* not permitted, or a kernel without time namespaces */
	assert_true(ours >= 0);
	assert_uptime_of_child(wanted_ns, UINT64_MAX);
	assert_int_equal(uptime_end(ours), 0);
	assert_uptime_of_child(before_ns, before_ns + wanted_ns / 2);
}
