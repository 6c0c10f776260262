/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The delay layer on the real clock. Lower bounds only: how late is up to the machine. */
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "cmocka_headers.h"
#include "platform/udelay.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void assert_delay_is_not_early(unsigned int usecs)
{
	const uint64_t start_ns = now_ns();

	default_delay(usecs);
	assert_true(now_ns() - start_ns >= (uint64_t)usecs * 1000);
}

static void short_and_long_waits_are_not_early(void **state)
{
	static const unsigned int waits_us[] = {0, 1, 10, 99, 100, 101, 1200, 20000};

	(void)state;
	for (size_t i = 0; i < sizeof(waits_us) / sizeof(waits_us[0]); i++)
		assert_delay_is_not_early(waits_us[i]);
}

static void ignore_signal(int number)
{
	(void)number;
}

static void sleep_under_alarm_signals_is_not_early(void **state)
{
	const struct sigaction action = {.sa_handler = ignore_signal};
	const struct itimerval every_ms = {{0, 1000}, {0, 1000}};
	const struct itimerval never = {0};

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every_ms, NULL), 0);
	assert_delay_is_not_early(50000);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_and_long_waits_are_not_early),
		cmocka_unit_test(sleep_under_alarm_signals_is_not_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
