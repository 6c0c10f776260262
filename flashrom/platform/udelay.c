/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The delay layer. One self-contained file: it needs a POSIX libc and its own header. Every
 * switch below has a default.
 *
 * Nothing is calibrated and no resolution is queried. A count of loop iterations says nothing about
 * time once the CPU's clock may change, or the thread may move to a faster core, and a timer
 * resolution that the system claims may be coarser or finer than the truth. So the layer reads a
 * clock until it shows the deadline; sleeping only makes that cheaper.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1 /* usleep() */
#endif

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "platform/udelay.h"

/* Shorter waits poll, because giving up the CPU would take longer than the wait itself. */
#ifndef CONFIG_DELAY_MINIMUM_SLEEP_US
#define CONFIG_DELAY_MINIMUM_SLEEP_US 100
#endif

/* clock_gettime(CLOCK_MONOTONIC) if the system has it, else gettimeofday(). */
#ifndef CONFIG_DELAY_CLOCK_GETTIME
#ifdef CLOCK_MONOTONIC
#define CONFIG_DELAY_CLOCK_GETTIME 1
#else
#define CONFIG_DELAY_CLOCK_GETTIME 0
#endif
#endif

/* clock_nanosleep(TIMER_ABSTIME) or nanosleep(): macOS and some BSDs have only the latter. */
#ifndef CONFIG_DELAY_ABSOLUTE_SLEEP
#if CONFIG_DELAY_CLOCK_GETTIME && defined(_POSIX_CLOCK_SELECTION) && _POSIX_CLOCK_SELECTION + 0 > 0
#define CONFIG_DELAY_ABSOLUTE_SLEEP 1
#else
#define CONFIG_DELAY_ABSOLUTE_SLEEP 0
#endif
#endif

#if CONFIG_DELAY_ABSOLUTE_SLEEP && !CONFIG_DELAY_CLOCK_GETTIME
#error "an absolute sleep needs clock_gettime: on a clock that can be stepped it may end at any time"
#endif

/* usleep() in place of nanosleep(), which older systems lack. */
#ifndef CONFIG_DELAY_USLEEP
#define CONFIG_DELAY_USLEEP 0
#endif

#if CONFIG_DELAY_USLEEP && CONFIG_DELAY_CLOCK_GETTIME
#error "usleep is for systems without clock_gettime"
#endif

/* With gettimeofday() only: the unit to which the system cuts the length of a sleep. */
#ifndef CONFIG_DELAY_SLEEP_UNIT_US
#ifdef _WIN32
#define CONFIG_DELAY_SLEEP_UNIT_US 1000
#else
#define CONFIG_DELAY_SLEEP_UNIT_US 0
#endif
#endif

/* Sleep to just before the deadline and poll the rest. */
#ifndef CONFIG_DELAY_HYBRID
#define CONFIG_DELAY_HYBRID 1
#endif

/* Learn how long before the deadline a sleep must end; needs a variable for each thread. */
#ifndef CONFIG_DELAY_LEARN_MARGIN
#define CONFIG_DELAY_LEARN_MARGIN 1
#endif

/* Ask Linux not to delay our sleeps by its timer slack of 50 us. */
#ifndef CONFIG_DELAY_TIMER_SLACK
#define CONFIG_DELAY_TIMER_SLACK 1
#endif

/* Tell the CPU that it is polling, which leaves more for the other thread of its core. */
#ifndef CONFIG_DELAY_CPU_RELAX
#define CONFIG_DELAY_CPU_RELAX 1
#endif

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_THREADS__)
#define THREAD_LOCAL _Thread_local
#elif defined(__GNUC__)
#define THREAD_LOCAL __thread
#endif

/* In 64 bits no product or sum below overflows: they hold any wait, and 292 years of uptime. */
#define NS_PER_US 1000
#define NS_PER_S INT64_C(1000000000)

#if !CONFIG_DELAY_USLEEP
static struct timespec timespec_of(int64_t ns)
{
	struct timespec result;

	result.tv_sec = (time_t)(ns / NS_PER_S);
	/* NOLINTNEXTLINE(readability-redundant-casting): long has 32 bits elsewhere */
	result.tv_nsec = (long)(ns % NS_PER_S);
	return result;
}
#endif

#if CONFIG_DELAY_CLOCK_GETTIME

/* The part of a wait that has passed. */
struct watch {
	int64_t start_ns;
	int64_t elapsed_ns; /* at the last reading */
};

static int64_t now_ns(void)
{
	struct timespec now;

	/* Without a clock no wait is possible, and returning would end the wait at once. */
	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		abort();
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void watch_start(struct watch *watch)
{
	watch->start_ns = now_ns();
	watch->elapsed_ns = 0;
}

/* Reads the clock. Returns true, because this clock is never stepped. */
static bool watch_look(struct watch *watch)
{
	watch->elapsed_ns = now_ns() - watch->start_ns;
	return true;
}

#if CONFIG_DELAY_ABSOLUTE_SLEEP
/* An absolute deadline needs no remaining time: after a signal the same sleep goes on. */
static int sleep_once(const struct watch *watch, int64_t until_ns)
{
	const struct timespec until = timespec_of(watch->start_ns + until_ns);

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
#else
/* The rest is computed from the clock each time; errors of nanosleep() remainders would add up. */
static int sleep_once(const struct watch *watch, int64_t until_ns)
{
	const struct timespec rest = timespec_of(until_ns - watch->elapsed_ns);

	return nanosleep(&rest, NULL) == 0 ? 0 : errno;
}
#endif

/* Sleeps once and reads the clock. Returns false if the system cannot sleep. */
static bool watch_sleep(struct watch *watch, int64_t until_ns)
{
	const int error = sleep_once(watch, until_ns);

	watch_look(watch);
	return error == 0 || error == EINTR;
}

#else /* gettimeofday */

/*
 * The wall clock may be stepped, either way and at any time. So the elapsed time is not the
 * difference of two readings but a sum over many, each of which must be plausible:
 *
 * - Backwards: counts 0. The wait gets longer by the time since the last reading, which is
 *   SLEEP_NS_MAX at most.
 * - Forwards by STEP_NS_MAX or less: counts in full. So small a step looks like time.
 * - Forwards by more, after a sleep: counts at most the length of the sleep, less the unit to which
 *   its length may be cut. The clock of sleeps is not stepped.
 * - Forwards by more, while polling: counts 0, and the rest of the wait is slept. It may have been
 *   time (the thread lost its CPU, or the clock ticks slowly), but only a sleep can show that.
 *
 * Readings are cut to whole microseconds, so a difference of two may exceed the time between them
 * by up to 1 us. That is subtracted once for each unbroken row of readings.
 */
#define TICK_NS INT64_C(1000)
#define STEP_NS_MAX INT64_C(50000)
#define SLEEP_NS_MAX INT64_C(100000000)
#define SLEEP_UNIT_NS (INT64_C(1000) * CONFIG_DELAY_SLEEP_UNIT_US)

struct watch {
	struct timeval last;
	int64_t elapsed_ns; /* at the last reading; small steps count, too */
	/* A long step while polling counts this much: 0 unless the system cannot sleep */
	int64_t certain_ns;
	int64_t sleep_ns_max;
	bool tick_owed;
};

static struct timeval wall_now(void)
{
	struct timeval now;

	if (gettimeofday(&now, NULL) != 0)
		abort();
	return now;
}

static void watch_start(struct watch *watch)
{
	watch->last = wall_now();
	watch->elapsed_ns = 0;
	watch->certain_ns = 0;
	watch->sleep_ns_max = SLEEP_NS_MAX;
	watch->tick_owed = true;
}

/*
 * Returns the progress of the clock since the last reading, limited to a day in either direction,
 * so that nothing overflows.
 */
static int64_t watch_moved_ns(struct watch *watch)
{
	const struct timeval last = watch->last;
	int64_t seconds;

	watch->last = wall_now();
	seconds = (int64_t)watch->last.tv_sec - last.tv_sec;
	if (seconds > 86400)
		seconds = 86400;
	if (seconds < -86400)
		seconds = -86400;
	return seconds * NS_PER_S + (int64_t)(watch->last.tv_usec - last.tv_usec) * NS_PER_US;
}

/* Adds the time since the last reading; `slept_ns` of it are certain. Returns false for a step. */
static bool watch_count(struct watch *watch, int64_t slept_ns)
{
	int64_t moved_ns = watch_moved_ns(watch);

	if (moved_ns < 0 || (moved_ns > STEP_NS_MAX && moved_ns > slept_ns)) {
		watch->elapsed_ns += moved_ns < 0 ? 0 : slept_ns;
		watch->tick_owed = true;
		return false;
	}
	if (watch->tick_owed && moved_ns > 0) {
		moved_ns -= TICK_NS;
		watch->tick_owed = false;
	}
	watch->elapsed_ns += moved_ns;
	return true;
}

static bool watch_look(struct watch *watch)
{
	return watch_count(watch, watch->certain_ns);
}

#if CONFIG_DELAY_USLEEP
#define SLEEP_NS_MIN (INT64_C(1000000) + SLEEP_UNIT_NS)

/*
 * Returns the time slept, or -1 if the system cannot sleep. If a signal ended the sleep, its length
 * is unknown and counts 0. The next sleep is then shorter, so that one ends between two signals.
 */
static int64_t sleep_for(struct watch *watch, int64_t ask_ns)
{
	const bool slept = usleep((useconds_t)(ask_ns / NS_PER_US)) == 0;

	if (!slept && errno != EINTR)
		return -1;
	if (slept && watch->sleep_ns_max <= SLEEP_NS_MAX / 2)
		watch->sleep_ns_max *= 2;
	if (!slept && watch->sleep_ns_max >= 2 * SLEEP_NS_MIN)
		watch->sleep_ns_max /= 2;
	return slept ? ask_ns / NS_PER_US * NS_PER_US : 0;
}
#else
static int64_t sleep_for(struct watch *watch, int64_t ask_ns)
{
	const struct timespec ask = timespec_of(ask_ns);
	struct timespec left = {0, 0};
	int64_t left_ns;

	(void)watch;
	if (nanosleep(&ask, &left) != 0 && errno != EINTR)
		return -1;
	left_ns = (int64_t)left.tv_sec * NS_PER_S + left.tv_nsec;
	return left_ns < ask_ns ? ask_ns - left_ns : 0;
}
#endif

/* Sleeps once and reads the clock. Returns false if the system cannot sleep. */
static bool watch_sleep(struct watch *watch, int64_t until_ns)
{
	const int64_t rest_ns = until_ns - watch->elapsed_ns + TICK_NS + SLEEP_UNIT_NS;
	const int64_t slept_ns =
		sleep_for(watch, rest_ns < watch->sleep_ns_max ? rest_ns : watch->sleep_ns_max);

	if (slept_ns >= 0) {
		watch_count(watch, slept_ns > SLEEP_UNIT_NS ? slept_ns - SLEEP_UNIT_NS : 0);
		return true;
	}
	/* Steps then look like time. Each counts a little, so that the wait ends. */
	watch->certain_ns = STEP_NS_MAX;
	watch_look(watch);
	return false;
}

#endif /* CONFIG_DELAY_CLOCK_GETTIME */

#if CONFIG_DELAY_TIMER_SLACK && defined(PR_SET_TIMERSLACK)
/* Returns the old slack, or 0 if it was not changed: unknown, or at most 1 ns already. */
static int slack_tighten(void)
{
	const int old_ns = prctl(PR_GET_TIMERSLACK, 0L, 0L, 0L, 0L);

	if (old_ns <= 1 || prctl(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L) != 0)
		return 0;
	return old_ns;
}

static void slack_restore(int old_ns)
{
	if (old_ns != 0)
		prctl(PR_SET_TIMERSLACK, (long)old_ns, 0L, 0L, 0L);
}
#else
static int slack_tighten(void)
{
	return 0;
}

static void slack_restore(int old_ns)
{
	(void)old_ns;
}
#endif

/* Sleeps, several times if need be, until `until_ns`. Returns false if the system cannot sleep. */
static bool sleep_until(struct watch *watch, int64_t until_ns)
{
	const int slack_ns = slack_tighten();
	bool can_sleep = true;

	while (can_sleep && watch->elapsed_ns < until_ns)
		can_sleep = watch_sleep(watch, until_ns);
	slack_restore(slack_ns);
	return can_sleep;
}

/* With gettimeofday(), only sleeps are certain, so polling the rest of a wait gains nothing. */
#if CONFIG_DELAY_HYBRID && CONFIG_DELAY_CLOCK_GETTIME

/*
 * The margin is the time from the planned end of a sleep to the deadline. It covers most wake-ups,
 * because a late wake-up delays the end of the wait, while an early one only costs CPU time. It is
 * at most MARGIN_NS_MAX, or one busy period would make all waits poll.
 */
#define MARGIN_NS_DEFAULT INT64_C(60000)
#define MARGIN_NS_MIN INT64_C(2000)
#define MARGIN_NS_MAX INT64_C(125000)

#if CONFIG_DELAY_LEARN_MARGIN && defined(THREAD_LOCAL)
static THREAD_LOCAL int64_t margin_ns = MARGIN_NS_DEFAULT;

/*
 * Moves the margin up fast and down slowly, so that about one wake-up in a hundred comes later.
 * `latency_ns` is from the planned end of a sleep to its real end. Ignores one above MARGIN_NS_MAX:
 * others had the CPU, and more polling would only use up the thread's share of it.
 */
static void margin_learn(int64_t latency_ns)
{
	if (latency_ns > MARGIN_NS_MAX)
		return;
	margin_ns += (latency_ns - margin_ns) / (latency_ns > margin_ns ? 2 : 128);
	if (margin_ns < MARGIN_NS_MIN)
		margin_ns = MARGIN_NS_MIN;
}

static int64_t margin_known_ns(void)
{
	return margin_ns;
}
#else
static void margin_learn(int64_t latency_ns)
{
	(void)latency_ns;
}

static int64_t margin_known_ns(void)
{
	return MARGIN_NS_DEFAULT;
}
#endif

/*
 * Sleeps at least an eighth of the wait: waits above the threshold must give up the CPU, and only
 * sleeps can correct the margin.
 */
static void sleep_most(struct watch *watch, int64_t length_ns)
{
	const int64_t least_ns = length_ns / 8;
	int64_t until_ns = length_ns - margin_known_ns();

	if (until_ns < least_ns)
		until_ns = least_ns;
	if (sleep_until(watch, until_ns))
		margin_learn(watch->elapsed_ns - until_ns);
}

#else

static void sleep_most(struct watch *watch, int64_t length_ns)
{
	sleep_until(watch, length_ns);
}

#endif

static void cpu_relax(void)
{
#if CONFIG_DELAY_CPU_RELAX && defined(__GNUC__)
#if defined(__i386__) || defined(__x86_64__)
	__asm__ __volatile__("pause");
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7)
	__asm__ __volatile__("yield");
#elif defined(__riscv)
	/* pause, as a number for old assemblers. CPUs without it execute it as a fence. */
	__asm__ __volatile__(".4byte 0x0100000f");
#elif defined(__powerpc__)
	__asm__ __volatile__("or 27,27,27");
#endif
#endif
}

static void poll_until(struct watch *watch, int64_t until_ns)
{
	while (watch->elapsed_ns < until_ns) {
		cpu_relax();
		if (!watch_look(watch))
			sleep_until(watch, until_ns);
	}
}

/* A variable, because a comparison with the literal 0 causes a warning (-Wtype-limits). */
static bool long_enough_to_sleep(unsigned int usecs)
{
	const unsigned int threshold_us = CONFIG_DELAY_MINIMUM_SLEEP_US;

	return usecs >= threshold_us;
}

#ifdef CONFIG_DELAY_TEST_PERCENT
/* Returns a wrong length on purpose, to test that wrong delays are noticed. */
static unsigned int requested(unsigned int usecs)
{
	return (unsigned int)((unsigned long long)usecs * CONFIG_DELAY_TEST_PERCENT / 100);
}
#else
static unsigned int requested(unsigned int usecs)
{
	return usecs;
}
#endif

void default_delay(unsigned int usecs)
{
	const unsigned int wait_us = requested(usecs);
	const int64_t length_ns = (int64_t)wait_us * NS_PER_US;
	struct watch watch;

	if (wait_us == 0)
		return;
	watch_start(&watch);
	if (long_enough_to_sleep(wait_us))
		sleep_most(&watch, length_ns);
	poll_until(&watch, length_ns);
}
