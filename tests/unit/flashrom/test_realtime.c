/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Realtime priority: how it is acquired and restored, and the messages about it. */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "captured_log.h"
#include "priority.h"
#include "../cases.h"
#include "realtime.h"

/* priority_raise() in a build that polls for more than 10 ms; meson.build gives it this name. */
void priority_raise_polling(const struct log *log, struct realtime *found);

/* The thread's scheduling. Wrapped functions get no context, so it is global. */
static struct fake_scheduler {
	int policy;
	int priority;
	bool may_take_realtime;
	bool may_clear_reset_on_fork;
	int get_error;
	unsigned int sets;
	bool library_refuses; /* as musl does; the system calls work */
} fake;

int __wrap_sched_getscheduler(pid_t pid);
int __wrap_sched_getparam(pid_t pid, struct sched_param *param);
int __wrap_sched_setscheduler(pid_t pid, int policy, const struct sched_param *param);
long __wrap_syscall(long number, ...);

/* The scheduling before a case took realtime priority. */
static struct realtime found;

static int refuse(void)
{
	errno = ENOSYS;
	return -1;
}

int __wrap_sched_getscheduler(pid_t pid)
{
	assert_int_equal(pid, 0);
	if (fake.library_refuses)
		return refuse();
	errno = fake.get_error;
	return fake.get_error == 0 ? fake.policy : -1;
}

int __wrap_sched_getparam(pid_t pid, struct sched_param *param)
{
	assert_int_equal(pid, 0);
	if (fake.library_refuses)
		return refuse();
	param->sched_priority = fake.priority;
	return 0;
}

static bool allowed(int policy)
{
	if (!fake.may_take_realtime && (policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO)
		return false;
	return fake.may_clear_reset_on_fork || !(fake.policy & SCHED_RESET_ON_FORK) ||
	       (policy & SCHED_RESET_ON_FORK);
}

int __wrap_sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	assert_int_equal(pid, 0);
	if (fake.library_refuses)
		return refuse();
	fake.sets++;
	if (!allowed(policy)) {
		errno = EPERM;
		return -1;
	}
	fake.policy = policy;
	fake.priority = param->sched_priority;
	return 0;
}

long __wrap_syscall(long number, ...)
{
	bool refused = fake.library_refuses;
	struct sched_param *param;
	int policy = 0;
	long result;
	va_list words;
	pid_t pid;

	va_start(words, number);
	pid = va_arg(words, pid_t);
	if (number == SYS_sched_setscheduler)
		policy = va_arg(words, int);
	param = number == SYS_sched_getscheduler ? NULL : va_arg(words, struct sched_param *);
	va_end(words);
	fake.library_refuses = false;
	result = number == SYS_sched_setscheduler   ? __wrap_sched_setscheduler(pid, policy, param)
		 : number == SYS_sched_getscheduler ? __wrap_sched_getscheduler(pid)
						    : __wrap_sched_getparam(pid, param);
	fake.library_refuses = refused;
	return result;
}

static void run_on_new_scheduler(void **state)
{
	fake = (struct fake_scheduler){
		.policy = SCHED_OTHER,
		.may_take_realtime = true,
		.may_clear_reset_on_fork = true,
	};
	run_plain_case(state);
}

static void acquire_sets_lowest_fifo_for_this_thread_only(void)
{
	assert_int_equal(realtime_acquire(&found), 0);
	assert_int_equal(fake.policy, SCHED_FIFO | SCHED_RESET_ON_FORK);
	assert_int_equal(fake.priority, sched_get_priority_min(SCHED_FIFO));
}

static void restore_sets_the_earlier_scheduling(void)
{
	static const int policies[] = {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE | SCHED_RESET_ON_FORK};

	for (size_t i = 0; i < COUNT(policies); i++) {
		fake.policy = policies[i];
		assert_int_equal(realtime_acquire(&found), 0);
		assert_int_equal(realtime_restore(&found), 0);
		assert_int_equal(fake.policy, policies[i]);
		assert_int_equal(fake.priority, 0);
	}
}

static void system_calls_are_used_if_the_library_refuses(void)
{
	fake.library_refuses = true;
	assert_int_equal(realtime_acquire(&found), 0);
	assert_int_equal(fake.policy, SCHED_FIFO | SCHED_RESET_ON_FORK);
	assert_int_equal(realtime_restore(&found), 0);
	assert_int_equal(fake.policy, SCHED_OTHER);
}

static void restore_without_privilege_keeps_reset_on_fork(void)
{
	fake.may_clear_reset_on_fork = false;
	assert_int_equal(realtime_acquire(&found), 0);
	assert_int_equal(realtime_restore(&found), 0);
	assert_int_equal(fake.policy, SCHED_OTHER | SCHED_RESET_ON_FORK);
}

static void refusal_changes_nothing(void)
{
	fake.may_take_realtime = false;
	assert_int_equal(realtime_acquire(&found), -EPERM);
	assert_int_equal(fake.policy, SCHED_OTHER);
	assert_int_equal(realtime_restore(&found), 0);
	assert_int_equal(fake.sets, 1);
}

static void realtime_thread_is_not_changed(void)
{
	static const int policies[] = {SCHED_FIFO, SCHED_RR, SCHED_RR | SCHED_RESET_ON_FORK, 6};

	for (size_t i = 0; i < COUNT(policies); i++) {
		fake.policy = policies[i];
		fake.priority = 50;
		assert_int_equal(realtime_acquire(&found), 0);
		assert_int_equal(realtime_restore(&found), 0);
		assert_int_equal(fake.sets, 0);
	}
}

static void unknown_scheduling_is_not_changed(void)
{
	fake.get_error = ENOSYS;
	assert_int_equal(realtime_acquire(&found), -ENOSYS);
	assert_int_equal(realtime_restore(&found), 0);
	assert_int_equal(fake.sets, 0);
}

static void missing_privilege_is_reported_once_with_a_remedy(void)
{
	struct captured_log captured = {0};
	struct log log = captured_log(&captured);
	const char *remedy;

	log.level_max = LOG_INFO;
	fake.may_take_realtime = false;
	priority_raise(&log, &found);
	priority_restore(&log, &found);
	remedy = strstr(captured.text, "CAP_SYS_NICE");
	assert_non_null(remedy);
	assert_null(strstr(remedy + 1, "CAP_SYS_NICE"));
	assert_true(logged(&captured, "RLIMIT_RTPRIO"));
}

static void raise_with_privilege_logs_nothing_at_info_level(void)
{
	struct captured_log captured = {0};
	struct log log = captured_log(&captured);

	log.level_max = LOG_INFO;
	priority_raise(&log, &found);
	assert_int_equal(fake.policy, SCHED_FIFO | SCHED_RESET_ON_FORK);
	priority_restore(&log, &found);
	assert_int_equal(fake.policy, SCHED_OTHER);
	assert_string_equal(captured.text, "");
}

static void build_with_long_polls_stays_at_normal_priority(void)
{
	struct captured_log captured = {0};
	const struct log log = captured_log(&captured);

	priority_raise_polling(&log, &found);
	priority_restore(&log, &found);
	assert_int_equal(fake.sets, 0);
	assert_true(logged(&captured, "polls for up to 10001 us"));
}

#define SCHEDULED(function) ROW(run_on_new_scheduler, plain_case, function, function)

static const struct CMUnitTest tests[] = {
	SCHEDULED(acquire_sets_lowest_fifo_for_this_thread_only),
	SCHEDULED(restore_sets_the_earlier_scheduling),
	SCHEDULED(system_calls_are_used_if_the_library_refuses),
	SCHEDULED(restore_without_privilege_keeps_reset_on_fork),
	SCHEDULED(refusal_changes_nothing),
	SCHEDULED(realtime_thread_is_not_changed),
	SCHEDULED(unknown_scheduling_is_not_changed),
	SCHEDULED(missing_privilege_is_reported_once_with_a_remedy),
	SCHEDULED(raise_with_privilege_logs_nothing_at_info_level),
	SCHEDULED(build_with_long_polls_stays_at_normal_priority),
};

RUN_CASES(tests)
