/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Realtime priority: the requests to the system, the return to normal, and the messages. */
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
	bool may_unmark; /* if SCHED_RESET_ON_FORK may be removed */
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
	return fake.may_unmark || !(fake.policy & SCHED_RESET_ON_FORK) ||
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

static void run_afresh(void **state)
{
	fake = (struct fake_scheduler){
		.policy = SCHED_OTHER,
		.may_take_realtime = true,
		.may_unmark = true,
	};
	run_plain_case(state);
}

static void allowed_thread_gets_lowest_fifo_for_itself_alone(void)
{
	assert_int_equal(realtime_acquire(&found), 0);
	assert_int_equal(fake.policy, SCHED_FIFO | SCHED_RESET_ON_FORK);
	assert_int_equal(fake.priority, sched_get_priority_min(SCHED_FIFO));
}

static void restore_gives_back_what_was_found(void)
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

static void library_that_refuses_leaves_the_kernel_to_be_asked(void)
{
	fake.library_refuses = true;
	assert_int_equal(realtime_acquire(&found), 0);
	assert_int_equal(fake.policy, SCHED_FIFO | SCHED_RESET_ON_FORK);
	assert_int_equal(realtime_restore(&found), 0);
	assert_int_equal(fake.policy, SCHED_OTHER);
}

static void restore_without_privilege_leaves_the_mark_alone(void)
{
	fake.may_unmark = false;
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

static void thread_that_is_realtime_already_is_left_alone(void)
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

static void unknown_scheduling_is_left_alone(void)
{
	fake.get_error = ENOSYS;
	assert_int_equal(realtime_acquire(&found), -ENOSYS);
	assert_int_equal(realtime_restore(&found), 0);
	assert_int_equal(fake.sets, 0);
}

static void program_that_may_not_says_once_what_would_help(void)
{
	struct captured_log captured = {0};
	struct log log = captured_log(&captured);
	const char *told;

	log.level_max = LOG_INFO;
	fake.may_take_realtime = false;
	priority_raise(&log, &found);
	priority_restore(&log, &found);
	told = strstr(captured.text, "CAP_SYS_NICE");
	assert_non_null(told);
	assert_null(strstr(told + 1, "CAP_SYS_NICE"));
	assert_true(logged(&captured, "RLIMIT_RTPRIO"));
}

static void program_that_may_says_nothing_at_info_level(void)
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

static void program_that_polls_for_long_stays_at_normal_priority(void)
{
	struct captured_log captured = {0};
	const struct log log = captured_log(&captured);

	priority_raise_polling(&log, &found);
	priority_restore(&log, &found);
	assert_int_equal(fake.sets, 0);
	assert_true(logged(&captured, "polls for up to 10001 us"));
}

#define AFRESH(function) ROW(run_afresh, plain_case, function, function)

static const struct CMUnitTest tests[] = {
	AFRESH(allowed_thread_gets_lowest_fifo_for_itself_alone),
	AFRESH(restore_gives_back_what_was_found),
	AFRESH(library_that_refuses_leaves_the_kernel_to_be_asked),
	AFRESH(restore_without_privilege_leaves_the_mark_alone),
	AFRESH(refusal_changes_nothing),
	AFRESH(thread_that_is_realtime_already_is_left_alone),
	AFRESH(unknown_scheduling_is_left_alone),
	AFRESH(program_that_may_not_says_once_what_would_help),
	AFRESH(program_that_may_says_nothing_at_info_level),
	AFRESH(program_that_polls_for_long_stays_at_normal_priority),
};

RUN_CASES(tests)
