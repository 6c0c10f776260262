/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A subject that is not flashrom and uses no programmer. It has no delay function, and waits with
 * each sleeping call of the C library. Each call requests another time, by which the test finds it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

/* The rig starts a program only if it contains the part's name. */
static const char *const volatile part = "GD25Q16(B)";

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

static void alarm_in_us(unsigned int us)
{
	const struct itimerval timer = {.it_value = {.tv_usec = us}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static struct timespec ns_from_now(long ns)
{
	struct timespec then;

	clock_gettime(CLOCK_MONOTONIC, &then);
	then.tv_nsec += ns;
	then.tv_sec += then.tv_nsec / NS_PER_S;
	then.tv_nsec %= NS_PER_S;
	return then;
}

/* Ends in a jump, so the sleep returns to the caller of this function. */
__attribute__((noinline)) int sleep_for(const struct timespec *length)
{
	return nanosleep(length, NULL);
}

static void sleep_in_each_way(void)
{
	const struct timespec length = {.tv_nsec = 3000001}, delay = {.tv_nsec = 4000001};
	const struct timespec timeout = {.tv_nsec = 8000001}, then = ns_from_now(9000001);
	struct timeval select_timeout = {.tv_usec = 7001};

	nanosleep(&length, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, NULL);
	usleep(5001);
	poll(NULL, 0, 6);
	select(0, NULL, NULL, NULL, &select_timeout);
	ppoll(NULL, 0, &timeout, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL);
	sleep(1);
}

static void sleep_the_rest_after_a_signal(void)
{
	struct timespec left = {.tv_nsec = 60000001};

	alarm_in_us(20000);
	while (nanosleep(&left, &left) != 0)
		;
}

static void sleep_until_a_signal(void)
{
	const struct timespec length = {.tv_nsec = 70000001};

	alarm_in_us(20000);
	nanosleep(&length, NULL);
}

int main(void)
{
	const struct timespec length = {.tv_nsec = 2000001};

	signal(SIGALRM, on_alarm);
	printf("%s\n", part);
	for (int i = 0; i < 2; i++)
		sleep_for(&length);
	sleep_in_each_way();
	sleep_the_rest_after_a_signal();
	sleep_until_a_signal();
	return 3;
}
