/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The delay layer on the real clock. Tests have lower bounds only, since a busy machine adds time.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "udelay_builds.h"

#define STORM_DELAYS 1000
#define STORM_US_MAX 20000

static uint64_t now_ns(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void assert_delay_is_not_early(const struct build *build, unsigned int usecs)
{
	const uint64_t start_ns = now_ns();
	uint64_t took_ns;

	build->delay(usecs);
	took_ns = now_ns() - start_ns;
	if (took_ns < (uint64_t)usecs * 1000)
		print_message(
			"%s(%u) took %llu ns\n", build->name, usecs, (unsigned long long)took_ns);
	assert_true(took_ns >= (uint64_t)usecs * 1000);
}

static bool is_whole(const struct build *build)
{
	return build->percent == 100;
}

static void short_and_long_waits_are_not_early(const struct build *build)
{
	static const unsigned int lengths_us[] = {0, 1, 10, 99, 100, 101, 1200, 20000};

	for (size_t i = 0; i < COUNT(lengths_us); i++)
		assert_delay_is_not_early(build, lengths_us[i]);
}

static volatile sig_atomic_t signals_seen;

static void count_signal(int number)
{
	(void)number;
	signals_seen++;
}

static void handle(int number, int flags)
{
	struct sigaction action = {0};

	action.sa_handler = count_signal;
	action.sa_flags = flags;
	sigemptyset(&action.sa_mask);
	assert_int_equal(sigaction(number, &action, NULL), 0);
}

/* SIGALRM from the kernel's timer, SIGUSR1 from another thread, 1 kHz each. */
struct storm {
	pthread_t target;
	pthread_t sender;
	volatile bool over;
};

static void *send_signals(void *context)
{
	const struct timespec ms = {0, 1000000};
	struct storm *storm = context;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (!storm->over) {
		pthread_kill(storm->target, SIGUSR1);
		nanosleep(&ms, NULL);
	}
	return NULL;
}

static void storm_begin(struct storm *storm, int flags)
{
	const struct itimerval every_ms = {{0, 1000}, {0, 1000}};

	*storm = (struct storm){.target = pthread_self()};
	signals_seen = 0;
	handle(SIGALRM, flags);
	handle(SIGUSR1, flags);
	assert_int_equal(pthread_create(&storm->sender, NULL, send_signals, storm), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every_ms, NULL), 0);
}

static void storm_end(struct storm *storm)
{
	const struct itimerval never = {{0, 0}, {0, 0}};

	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	storm->over = true;
	assert_int_equal(pthread_join(storm->sender, NULL), 0);
}

/* Delays from 1 us to STORM_US_MAX, in a geometric series. */
static void delay_in_storm(const struct build *build, int flags)
{
	struct storm storm;
	double usecs = 1;

	storm_begin(&storm, flags);
	for (unsigned int i = 0; i < STORM_DELAYS / 2; i++) {
		assert_delay_is_not_early(build, (unsigned int)usecs);
		usecs *= 1.02006; /* about the 499th root of STORM_US_MAX */
	}
	storm_end(&storm);
	assert_in_range((unsigned int)usecs, STORM_US_MAX, STORM_US_MAX * 1.1);
	assert_in_range(signals_seen, 100, 1000000);
}

/* Half of the delays run with restarted system calls, half without. */
static void delays_in_signal_storm_are_not_early(const struct build *build)
{
	delay_in_storm(build, 0);
	delay_in_storm(build, SA_RESTART);
}

static const struct CMUnitTest tests[] = {
	ON_BUILDS(is_whole, short_and_long_waits_are_not_early),
	ON_BUILDS(is_whole, delays_in_signal_storm_are_not_early),
};

RUN_CASES(tests)
