/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* else glibc does not define SCHED_RESET_ON_FORK */
#endif
#include "realtime.h"

#include <errno.h>
#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#ifdef SCHED_RESET_ON_FORK

/*
 * musl refuses these three functions with ENOSYS, because Linux applies them to a thread and POSIX
 * to a process. We need the thread, so we then call the kernel directly.
 */
static int set_scheduler(int policy, const struct sched_param *param)
{
	int result = sched_setscheduler(0, policy, param);

	return result != 0 && errno == ENOSYS
		       ? (int)syscall(SYS_sched_setscheduler, 0, policy, param)
		       : result;
}

static int get_scheduler(void)
{
	int policy = sched_getscheduler(0);

	return policy < 0 && errno == ENOSYS ? (int)syscall(SYS_sched_getscheduler, 0) : policy;
}

static int get_param(struct sched_param *param)
{
	int result = sched_getparam(0, param);

	return result != 0 && errno == ENOSYS ? (int)syscall(SYS_sched_getparam, 0, param) : result;
}

static int set_policy(int policy, int priority)
{
	const struct sched_param param = {.sched_priority = priority};

	return set_scheduler(policy, &param) == 0 ? 0 : -errno;
}

static int get_policy(struct realtime *found)
{
	struct sched_param param = {0};

	*found = (struct realtime){0};
	found->policy = get_scheduler();
	if (found->policy < 0 || get_param(&param) != 0)
		return -errno;
	found->priority = param.sched_priority;
	return 0;
}

/* Returns true for SCHED_FIFO, SCHED_RR, SCHED_DEADLINE and unknown policies. */
static bool is_realtime(int policy)
{
	switch (policy & ~SCHED_RESET_ON_FORK) {
	case SCHED_OTHER:
	case SCHED_BATCH:
	case SCHED_IDLE:
		return false;
	default:
		return true;
	}
}

int realtime_acquire(struct realtime *found)
{
	int error = get_policy(found);

	if (error != 0 || is_realtime(found->policy))
		return error;
	error = set_policy(SCHED_FIFO | SCHED_RESET_ON_FORK, sched_get_priority_min(SCHED_FIFO));
	found->changed = error == 0;
	return error;
}

int realtime_restore(const struct realtime *found)
{
	int error;

	if (!found->changed)
		return 0;
	error = set_policy(found->policy, found->priority);
	if (error == -EPERM)
		error = set_policy(found->policy | SCHED_RESET_ON_FORK, found->priority);
	return error;
}

#else

int realtime_acquire(struct realtime *found)
{
	*found = (struct realtime){0};
	return -ENOSYS;
}

int realtime_restore(const struct realtime *found)
{
	(void)found;
	return 0;
}

#endif
